// Metal 4: command buffers with an allocator, arguments by address, events of a queue, feedback.
#include "declarations.h"
#include "metal.h"

@interface NSObject (Metal4)
- (id)newMTL4CommandQueue;
- (id)newCommandAllocator;
- (id)newCommandBuffer;
- (id)newArgumentTableWithDescriptor:(id)descriptor error:(id *)error;
- (void)setMaxBufferBindCount:(NSUInteger)count;
- (unsigned long)gpuAddress;
- (void)setAddress:(unsigned long)address atIndex:(NSUInteger)index;
- (void)setArgumentTable:(id)table;
- (void)beginCommandBufferWithAllocator:(id)allocator;
- (void)endCommandBuffer;
- (void)barrierAfterEncoderStages:(NSUInteger)after beforeEncoderStages:(NSUInteger)before visibilityOptions:(NSUInteger)options;
- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group;
- (void)dispatchThreadgroupsWithIndirectBuffer:(unsigned long)address threadsPerThreadgroup:(MTLSize)threads;
- (void)copyFromBuffer:(id)source
          sourceOffset:(NSUInteger)from
              toBuffer:(id)destination
     destinationOffset:(NSUInteger)to
                  size:(NSUInteger)size;
- (void)commit:(const id *)buffers count:(NSUInteger)count;
- (void)commit:(const id *)buffers count:(NSUInteger)count options:(id)options;
- (void)addFeedbackHandler:(void (^)(id feedback))block;
- (double)GPUStartTime;
- (double)GPUEndTime;
- (id)error;
- (void)signalEvent:(id)event value:(unsigned long)value;
- (void)waitForEvent:(id)event value:(unsigned long)value;
- (void)setSignaledValue:(unsigned long)value;
- (void)reset;
@end
@interface MTL4ArgumentTableDescriptor : NSObject
@end
@interface MTL4CommitOptions : NSObject
@end

int main(int count, char **arguments) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    id state = pipeline(@"#include <metal_stdlib>\n"
                         "using namespace metal;\n"
                         "kernel void add(device atomic_uint *sums [[buffer(0)]], constant uint *by [[buffer(2)]],\n"
                         "                uint at [[thread_position_in_grid]]) {\n"
                         "  atomic_fetch_add_explicit(&sums[at], *by, memory_order_relaxed);\n"
                         "}", @"add");
    id sums = [device newBufferWithLength:64 options:0], by = [device newBufferWithLength:64 options:0];
    id copy = [device newBufferWithLength:64 options:0];
    unsigned *numbers = [by contents];
    for (int at = 0; at < 16; at++) numbers[at] = at;
    id error = 0, description = [[MTL4ArgumentTableDescriptor new] autorelease];
    [description setMaxBufferBindCount:3];
    id table = [device newArgumentTableWithDescriptor:description error:&error];
    id commands = [device newCommandBuffer], allocator = [device newCommandAllocator], own = [device newMTL4CommandQueue];
    id event = [device newSharedEvent];
    if (count > 1) [own commit:&commands count:1];

    for (int round = 0; round < 2; round++) {
      [commands beginCommandBufferWithAllocator:allocator];
      id encoder = [commands computeCommandEncoder];
      [encoder setComputePipelineState:state];
      [encoder setArgumentTable:table];
      [table setAddress:[sums gpuAddress] atIndex:0];
      [table setAddress:[by gpuAddress] + 4 * 3 atIndex:2];
      [encoder dispatchThreads:(MTLSize){4, 1, 1} threadsPerThreadgroup:(MTLSize){4, 1, 1}];
      [encoder barrierAfterEncoderStages:1 << 27 beforeEncoderStages:1 << 27 visibilityOptions:1];
      // The table's contents are those at the time of a dispatch.
      [table setAddress:[by gpuAddress] + 4 * 10 atIndex:2];
      [table setAddress:[sums gpuAddress] + 4 atIndex:0];
      // A grid of 1, 2 and 3 threadgroups: each adds 10 to the same two numbers.
      [encoder dispatchThreadgroupsWithIndirectBuffer:[by gpuAddress] + 4 threadsPerThreadgroup:(MTLSize){2, 1, 1}];
      [encoder copyFromBuffer:sums sourceOffset:0 toBuffer:copy destinationOffset:0 size:64];
      [encoder fillBuffer:copy range:(NSRange){61, 2} value:7];
      [encoder endEncoding];
      [commands endCommandBuffer];
      [allocator reset];
      __block double start = 0, end = 0;
      __block id problem = commands;
      id options = [[MTL4CommitOptions new] autorelease];
      [options addFeedbackHandler:^(id feedback) { start = [feedback GPUStartTime]; end = [feedback GPUEndTime]; problem = [feedback error]; }];
      [own waitForEvent:event value:2 * round + 1];
      [own commit:&commands count:1 options:options];
      [own signalEvent:event value:2 * round + 2];
      [event setSignaledValue:2 * round + 1];
      CHECK([event waitUntilSignaledValue:2 * round + 2 timeoutMS:60000]);
      CHECK(start > 0 && start <= end && !problem);
    }
    const unsigned *found = [copy contents];
    CHECK(found[0] == 6 && found[3] == 6 && found[4] == 0);
    CHECK(found[1] == 6 + 2 * 60 && found[2] == 6 + 2 * 60);
    CHECK(found[15] == 0x070700);
    [state release];
    [sums release];
    [by release];
    [copy release];
    [table release];
    [commands release];
    [allocator release];
    [own release];
    [event release];
    [device release];
  }
  return failures;
}
