#pragma once

#include <Foundation/NSDate.h>

#ifdef __OBJC__

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end

@interface NSLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
@end

@interface NSRecursiveLock : NSObject <NSLocking>
@property(copy) NSString *name;
- (BOOL)tryLock;
@end

@interface NSCondition : NSObject <NSLocking>
@property(copy) NSString *name;
- (void)wait;
- (BOOL)waitUntilDate:(NSDate *)limit;
- (void)signal;
- (void)broadcast;
@end

#endif
