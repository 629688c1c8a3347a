// The part of Metal that the programs beside this file use.
typedef struct { NSUInteger width, height, depth; } MTLSize;
typedef struct { NSUInteger location, length; } NSRange;
id MTLCreateSystemDefaultDevice(void);
void *memcpy(void *to, const void *from, unsigned long size);

@interface NSData : NSObject
- (const void *)bytes;
- (NSUInteger)length;
@end

// Receivers are of type id: the methods are those of Metal's protocols.
@interface NSObject (Metal)
- (id)newLibraryWithSource:(NSString *)source options:(id)options error:(id *)error;
- (id)newFunctionWithName:(NSString *)name;
- (id)newComputePipelineStateWithFunction:(id)function error:(id *)error;
- (id)newBufferWithLength:(NSUInteger)length options:(NSUInteger)options;
- (id)newCommandQueue;
- (id)newCommandQueueWithDescriptor:(id)descriptor;
- (void *)contents;
- (id)commandBuffer;
- (id)computeCommandEncoder;
- (id)computeCommandEncoderWithDescriptor:(id)descriptor;
- (id)blitCommandEncoder;
- (void)setComputePipelineState:(id)state;
- (void)setBuffer:(id)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)threads;
- (void)fillBuffer:(id)buffer range:(NSRange)range value:(unsigned char)value;
- (void)updateFence:(id)fence;
- (void)waitForFence:(id)fence;
- (void)endEncoding;
- (void)enqueue;
- (void)commit;
- (void)waitUntilCompleted;
- (NSUInteger)status;
- (id)newFence;
- (id)newEvent;
- (id)newSharedEvent;
- (void)encodeSignalEvent:(id)event value:(unsigned long)value;
- (void)encodeWaitForEvent:(id)event value:(unsigned long)value;
- (unsigned long)signaledValue;
- (void)notifyListener:(id)listener atValue:(unsigned long)value block:(void (^)(id, unsigned long))block;
- (BOOL)waitUntilSignaledValue:(unsigned long)value timeoutMS:(unsigned long)milliseconds;
- (BOOL)supportsCounterSampling:(NSUInteger)point;
- (id)counterSets;
- (id)counters;
- (id)newCounterSampleBufferWithDescriptor:(id)descriptor error:(id *)error;
- (void)setCounterSet:(id)set;
- (void)setSampleCount:(NSUInteger)count;
- (id)sampleBufferAttachments;
- (id)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setSampleBuffer:(id)buffer;
- (void)setStartOfEncoderSampleIndex:(NSUInteger)index;
- (void)setEndOfEncoderSampleIndex:(NSUInteger)index;
- (NSData *)resolveCounterRange:(NSRange)range;
- (id)newLogStateWithDescriptor:(id)descriptor error:(id *)error;
- (void)addLogHandler:(void (^)(id, id, NSInteger, id))block;
- (void)setLogState:(id)state;
- (void)setLevel:(NSInteger)level;
- (id)commandBufferWithDescriptor:(id)descriptor;
- (id)newResidencySetWithDescriptor:(id)descriptor error:(id *)error;
- (void)addAllocation:(id)allocation;
- (void)addResidencySet:(id)set;
- (void)requestResidency;
- (NSUInteger)allocationCount;
- (unsigned long)allocatedSize;
- (BOOL)startCaptureWithDescriptor:(id)descriptor error:(id *)error;
- (NSString *)localizedDescription;
@end

@interface MTLComputePassDescriptor : NSObject
+ (id)computePassDescriptor;
@end
@interface MTLCounterSampleBufferDescriptor : NSObject
@end
@interface MTLSharedEventListener : NSObject
@end
@interface MTLLogStateDescriptor : NSObject
@end
@interface MTLCommandQueueDescriptor : NSObject
@end
@interface MTLCommandBufferDescriptor : NSObject
@end
@interface MTLResidencySetDescriptor : NSObject
@end
@interface MTLCaptureManager : NSObject
+ (id)sharedCaptureManager;
@end
@interface MTLCaptureDescriptor : NSObject
@end

static id device, queue;

static id pipeline(NSString *source, NSString *name) {
  id error = 0;
  id library = [device newLibraryWithSource:source options:0 error:&error];
  if (!library) printf("%s\n", [[error description] UTF8String]);
  id function = [library newFunctionWithName:name];
  id state = [device newComputePipelineStateWithFunction:function error:&error];
  if (!state) printf("%s\n", [[error description] UTF8String]);
  [function release];
  [library release];
  return state;
}
