// Command buffers: their order, sizes of dispatches in buffers, times, events.
#include "declarations.h"
#include "metal.h"

static NSString *const source =
    @"kernel void append(device uint *list [[buffer(0)]], constant uint &value [[buffer(1)]]) { list[++list[0]] = value; }\n"
     "kernel void count(device uint *size [[buffer(0)]], constant uint &value [[buffer(1)]]) { size[0] = value; size[1] = 2; size[2] = 1; }\n"
     "kernel void mark(device uint *marks [[buffer(0)]], constant uint &value [[buffer(1)]],\n"
     "                 uint3 group [[threadgroup_position_in_grid]]) { marks[group.y * 8 + group.x] += value; }\n";

static const MTLSize one = {1, 1, 1};

static void append(id commands, id state, id list, unsigned value) {
  id encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:list offset:0 atIndex:0];
  [encoder setBytes:&value length:4 atIndex:1];
  [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
  [encoder endEncoding];
}

// Command buffers run in the order in which they were enqueued, whenever they are committed.
static void order(void) {
  id state = pipeline(source, @"append"), list = [device newBufferWithLength:64 options:0];
  @autoreleasepool {
    id first = [queue commandBuffer], second = [queue commandBuffer], third = [queue commandBuffer];
    append(first, state, list, 1);
    append(second, state, list, 2);
    append(third, state, list, 3);
    [second enqueue];
    @autoreleasepool { [[queue commandBuffer] enqueue]; }
    [first enqueue];
    [third commit];
    [first commit];
    CHECK([third status] == 2 && [first status] == 2);
    [second commit];
    [third waitUntilCompleted];
    const unsigned expected[] = {3, 2, 1, 3};
    const unsigned *found = [list contents];
    for (int at = 0; at < 4; at++) CHECK(found[at] == expected[at]);
  }
  [list release];
  [state release];
}

// The size is what earlier work of the same encoder wrote; arguments stay.
static void indirect(void) {
  id count = pipeline(source, @"count"), mark = pipeline(source, @"mark");
  id size = [device newBufferWithLength:16 options:0], marks = [device newBufferWithLength:128 options:0];
  @autoreleasepool {
    id commands = [queue commandBuffer], encoder = [commands computeCommandEncoder];
    unsigned value = 3;
    [encoder setComputePipelineState:count];
    [encoder setBuffer:size offset:4 atIndex:0];
    [encoder setBytes:&value length:4 atIndex:1];
    [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
    [encoder setComputePipelineState:mark];
    [encoder setBuffer:marks offset:0 atIndex:0];
    [encoder dispatchThreadgroupsWithIndirectBuffer:size indirectBufferOffset:4 threadsPerThreadgroup:one];
    [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
    // A size of 0 is no dispatch.
    [encoder dispatchThreadgroupsWithIndirectBuffer:size indirectBufferOffset:0 threadsPerThreadgroup:one];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK([commands status] == 4);
    const unsigned *found = [marks contents];
    for (unsigned at = 0; at < 32; at++) {
      unsigned inside = at / 8 < 2 && at % 8 < 3;
      CHECK(found[at] == (at == 0 ? 6 : inside ? 3 : 0));
    }
  }
  [size release];
  [marks release];
  [count release];
  [mark release];
}

// The times of an encoder are sampled at its beginning and its end.
static void times(void) {
  id state = pipeline(source, @"append"), list = [device newBufferWithLength:64 options:0];
  @autoreleasepool {
    CHECK([device supportsCounterSampling:0] && ![device supportsCounterSampling:2]);
    id set = [device counterSets][0];
    IS([[set counters][0] performSelector:@selector(name)], "Timestamp");
    id description = [[MTLCounterSampleBufferDescriptor new] autorelease];
    [description setCounterSet:set];
    [description setSampleCount:4];
    id error = 0, samples = [device newCounterSampleBufferWithDescriptor:description error:&error];
    for (int pass = 0; pass < 2; pass++) {
      id commands = [queue commandBuffer], pass_description = [MTLComputePassDescriptor computePassDescriptor];
      id attachment = [pass_description sampleBufferAttachments][0];
      [attachment setSampleBuffer:samples];
      [attachment setStartOfEncoderSampleIndex:2 * pass];
      [attachment setEndOfEncoderSampleIndex:2 * pass + 1];
      id encoder = [commands computeCommandEncoderWithDescriptor:pass_description];
      unsigned value = 1;
      [encoder setComputePipelineState:state];
      [encoder setBuffer:list offset:0 atIndex:0];
      [encoder setBytes:&value length:4 atIndex:1];
      [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
      [encoder endEncoding];
      [commands commit];
      [commands waitUntilCompleted];
    }
    NSData *data = [samples resolveCounterRange:(NSRange){0, 4}];
    CHECK([data length] == 32);
    unsigned long found[4];
    memcpy(found, [data bytes], sizeof found);
    CHECK(found[0] > 0 && found[0] <= found[1] && found[1] <= found[2] && found[2] <= found[3] && found[3] != ~0ul);
    [description setSampleCount:1 << 20];
    CHECK([device newCounterSampleBufferWithDescriptor:description error:&error] == 0 && error);
    [samples release];
  }
  [list release];
  [state release];
}

// Events order queues, and tell the host.
static void events(void) {
  id other = [device newCommandQueue], event = [device newSharedEvent], own = [device newEvent], fence = [device newFence];
  id state = pipeline(source, @"append"), list = [device newBufferWithLength:64 options:0];
  __block unsigned long reached = 0;
  id listener = [MTLSharedEventListener new], heard = [device newSharedEvent];
  @autoreleasepool {
    id first = [queue commandBuffer], second = [other commandBuffer];
    [second encodeWaitForEvent:own value:1];
    append(second, state, list, 2);
    [second encodeSignalEvent:event value:7];
    [event notifyListener:listener atValue:5 block:^(id event, unsigned long value) {
      reached = value;
      [heard performSelector:@selector(setSignaledValue:) withObject:(id)1];
    }];
    [second commit];
    append(first, state, list, 1);
    id blit = [first blitCommandEncoder];
    [blit waitForFence:fence];
    [blit fillBuffer:list range:(NSRange){60, 1} value:9];
    [blit updateFence:fence];
    [blit endEncoding];
    [first encodeSignalEvent:own value:1];
    [first commit];
    CHECK([event waitUntilSignaledValue:7 timeoutMS:60000]);
    CHECK([heard waitUntilSignaledValue:1 timeoutMS:60000]);
    [second waitUntilCompleted];
    const unsigned *found = [list contents];
    CHECK(reached == 7 && found[0] == 2 && found[1] == 1 && found[2] == 2 && found[15] == 9);
  }
  [other release];
  [event release];
  [own release];
  [fence release];
  [heard release];
  [listener release];
  [list release];
  [state release];
}

static void others(void) {
  id buffer = [device newBufferWithLength:100 options:0];
  @autoreleasepool {
    id error = 0;
    id set = [device newResidencySetWithDescriptor:[[MTLResidencySetDescriptor new] autorelease] error:&error];
    [set addAllocation:buffer];
    [set addAllocation:buffer];
    [set commit];
    [set requestResidency];
    [queue addResidencySet:set];
    CHECK([set allocationCount] == 1 && [set allocatedSize] >= 100);
    [set release];
    id capture = [[MTLCaptureDescriptor new] autorelease];
    CHECK(![[MTLCaptureManager sharedCaptureManager] startCaptureWithDescriptor:capture error:&error]);
    CHECK([[error localizedDescription] length] > 0);
  }
  [buffer release];
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    order();
    indirect();
    times();
    events();
    others();
    [queue release];
    [device release];
  }
  return failures;
}
