// Metal 4 for compute.
#pragma once

#include <Metal/Metal.h>

typedef NS_OPTIONS(NSUInteger, MTLStages) {
  MTLStageDispatch = 1 << 27,
  MTLStageBlit = 1 << 28,
  MTLStageAll = NSIntegerMax
};

typedef NS_OPTIONS(NSUInteger, MTL4VisibilityOptions) {
  MTL4VisibilityOptionNone = 0,
  MTL4VisibilityOptionDevice = 1,
  MTL4VisibilityOptionResourceAlias = 2
};

#ifdef __OBJC__

@interface MTL4CommandQueueDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@property(strong) id feedbackQueue;
@end

@interface MTL4CommandAllocatorDescriptor : NSObject <NSCopying>
@property(copy) NSString *label;
@end

@interface MTL4ArgumentTableDescriptor : NSObject <NSCopying>
@property NSUInteger maxBufferBindCount;
@property NSUInteger maxTextureBindCount;
@property NSUInteger maxSamplerStateBindCount;
@property BOOL initializeBindings;
@property BOOL supportAttributeStrides;
@property(copy) NSString *label;
@end

@protocol MTL4CommitFeedback <NSObject>
@property(readonly) NSError *error;
@property(readonly) CFTimeInterval GPUStartTime;
@property(readonly) CFTimeInterval GPUEndTime;
@end

@interface MTL4CommitOptions : NSObject
- (void)addFeedbackHandler:(void (^)(id<MTL4CommitFeedback> feedback))block;
@end

@interface MTL4CommandBufferOptions : NSObject
@end

@protocol MTL4CommandAllocator <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (uint64_t)allocatedSize;
- (void)reset;
@end

@protocol MTL4ArgumentTable <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (void)setAddress:(MTLGPUAddress)address atIndex:(NSUInteger)index;
- (void)setAddress:(MTLGPUAddress)address attributeStride:(NSUInteger)stride atIndex:(NSUInteger)index;
- (void)setResource:(MTLResourceID)resource atBufferIndex:(NSUInteger)index;
@end

@protocol MTL4CommandEncoder <NSObject>
@property(copy) NSString *label;
@property(readonly) id<MTL4CommandBuffer> commandBuffer;
- (void)barrierAfterQueueStages:(MTLStages)after
                   beforeStages:(MTLStages)before
              visibilityOptions:(MTL4VisibilityOptions)options;
- (void)barrierAfterStages:(MTLStages)after
         beforeQueueStages:(MTLStages)before
         visibilityOptions:(MTL4VisibilityOptions)options;
- (void)barrierAfterEncoderStages:(MTLStages)after
              beforeEncoderStages:(MTLStages)before
                visibilityOptions:(MTL4VisibilityOptions)options;
- (void)updateFence:(id<MTLFence>)fence afterEncoderStages:(MTLStages)stages;
- (void)waitForFence:(id<MTLFence>)fence beforeEncoderStages:(MTLStages)stages;
- (void)insertDebugSignpost:(NSString *)string;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
- (void)endEncoding;
@end

@protocol MTL4ComputeCommandEncoder <MTL4CommandEncoder>
- (MTLStages)stages;
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setArgumentTable:(id<MTL4ArgumentTable>)table;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)dispatchThreadgroups:(MTLSize)threadgroups threadsPerThreadgroup:(MTLSize)threads;
- (void)dispatchThreadgroupsWithIndirectBuffer:(MTLGPUAddress)buffer threadsPerThreadgroup:(MTLSize)threads;
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
@end

@protocol MTL4CommandBuffer <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString *label;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator;
- (void)beginCommandBufferWithAllocator:(id<MTL4CommandAllocator>)allocator options:(MTL4CommandBufferOptions *)options;
- (void)endCommandBuffer;
- (id<MTL4ComputeCommandEncoder>)computeCommandEncoder;
- (void)useResidencySet:(id<MTLResidencySet>)set;
- (void)useResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
@end

@protocol MTL4CommandQueue <NSObject>
@property(readonly) id<MTLDevice> device;
@property(readonly) NSString *label;
- (void)commit:(const id<MTL4CommandBuffer>[])buffers count:(NSUInteger)count;
- (void)commit:(const id<MTL4CommandBuffer>[])buffers count:(NSUInteger)count options:(MTL4CommitOptions *)options;
- (void)signalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)waitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)addResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:(const id<MTLResidencySet>[])sets count:(NSUInteger)count;
@end

#endif
