#pragma once

#include <Foundation/NSDate.h>

#ifdef __OBJC__

@interface NSThread : NSObject
@property(class, readonly) BOOL isMainThread;
+ (BOOL)isMultiThreaded;
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds;
+ (void)sleepUntilDate:(NSDate *)date;
@end

#endif
