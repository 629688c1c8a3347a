#pragma once

#include <Foundation/NSDate.h>

#ifdef __OBJC__

@interface NSThread : NSObject
@property(class, readonly, strong) NSThread *currentThread;
@property(class, readonly, strong) NSThread *mainThread;
@property(class, readonly) BOOL isMainThread;
@property(readonly) BOOL isMainThread;
@property(readonly, getter=isExecuting) BOOL executing;
@property(readonly, getter=isFinished) BOOL finished;
@property(copy) NSString *name;
@property NSUInteger stackSize;
@property NSInteger qualityOfService;
+ (void)detachNewThreadSelector:(SEL)selector toTarget:(id)target withObject:(id)object;
- (instancetype)initWithTarget:(id)target selector:(SEL)selector object:(id)object;
#ifdef __BLOCKS__
+ (void)detachNewThreadWithBlock:(void (^)(void))block;
- (instancetype)initWithBlock:(void (^)(void))block;
#endif
- (void)start;
- (void)main;
+ (BOOL)isMultiThreaded;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
+ (void)sleepUntilDate:(NSDate *)date;
@end

#endif
