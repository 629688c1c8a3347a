// Messages of kernels.
#pragma once

#include <Metal/Metal.h>

typedef NS_ENUM(NSInteger, MTLLogLevel) {
  MTLLogLevelUndefined = 0,
  MTLLogLevelDebug = 1,
  MTLLogLevelInfo = 2,
  MTLLogLevelNotice = 3,
  MTLLogLevelError = 4,
  MTLLogLevelFault = 5
};

#ifdef __OBJC__

@interface MTLLogStateDescriptor : NSObject <NSCopying>
@property MTLLogLevel level;
@property NSInteger bufferSize;
@end

@protocol MTLLogState <NSObject>
@property(readonly) id<MTLDevice> device;
- (void)addLogHandler:(void (^)(NSString *subsystem, NSString *category, MTLLogLevel level, NSString *message))block;
@end

#endif
