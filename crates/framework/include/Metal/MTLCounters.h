// Times of passes.
#pragma once

#include <Metal/Metal.h>

typedef struct {
  uint64_t timestamp;
} MTLCounterResultTimestamp;

#define MTLCounterErrorValue ((uint64_t)~0ULL)
#define MTLCounterDontSample ((NSUInteger)-1)

#ifdef __OBJC__

typedef NSString *MTLCommonCounter;
typedef NSString *MTLCommonCounterSet;
FOUNDATION_EXPORT MTLCommonCounter const MTLCommonCounterTimestamp;
FOUNDATION_EXPORT MTLCommonCounterSet const MTLCommonCounterSetTimestamp;
FOUNDATION_EXPORT NSErrorDomain const MTLCounterErrorDomain;

@protocol MTLCounter <NSObject>
@property(readonly, copy) NSString *name;
@end

@protocol MTLCounterSet <NSObject>
@property(readonly, copy) NSString *name;
@property(readonly, copy) NSArray<id<MTLCounter>> *counters;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSet> counterSet;
@property(copy) NSString *label;
@property MTLStorageMode storageMode;
@property NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
@property(readonly) NSUInteger sampleCount;
- (NSData *)resolveCounterRange:(NSRange)range;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex;
@property NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLBlitPassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
@property(strong) id<MTLCounterSampleBuffer> sampleBuffer;
@property NSUInteger startOfEncoderSampleIndex;
@property NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLBlitPassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLBlitPassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLBlitPassSampleBufferAttachmentDescriptor *)attachment atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)attachment atIndexedSubscript:(NSUInteger)index;
@end

#endif
