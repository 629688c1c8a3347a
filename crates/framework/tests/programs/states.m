// States of objects as Apple documents them, with automatic reference counting.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

static int failures = 0;
#define CHECK(...) \
  do { \
    if (!(__VA_ARGS__)) { \
      failures++; \
      printf("line %d: %s\n", __LINE__, #__VA_ARGS__); \
    } \
  } while (0)

static NSString *const source = @"int deep(int n) { return n < 1 ? 0 : deep(n - 1) * 3 + deep(n - 2); }\n"
                                 "kernel void stack(device int *x [[buffer(0)]]) { x[0] = deep(x[0]); }\n"
                                 "kernel void fault(device int *x [[buffer(0)]]) { x[x[0]] = 7; }\n"
                                 "kernel void none(device int *x [[buffer(0)]]) { x[1] = 7; }\n";

static NSError *run(id<MTLCommandQueue> queue, id<MTLComputePipelineState> state, id<MTLBuffer> x) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  [encoder setBuffer:x offset:0 atIndex:0];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.status == (commands.error ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted));
  return commands.error;
}

// The code of a command buffer's error says what a kernel did; later work runs.
static void errors(id<MTLDevice> device, id<MTLCommandQueue> queue) {
  NSError *error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
  const MTLCommandBufferError codes[] = {MTLCommandBufferErrorStackOverflow, MTLCommandBufferErrorPageFault, 0};
  NSArray<NSString *> *names = @[ @"stack", @"fault", @"none" ];
  for (NSUInteger at = 0; at < 3; at++) {
    id<MTLFunction> function = [library newFunctionWithName:names[at]];
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    id<MTLBuffer> x = [device newBufferWithLength:64 options:0];
    *(int *)x.contents = at == 0 ? 1000000 : 1 << 30;
    NSError *found = run(queue, state, x);
    CHECK((NSUInteger)found.code == codes[at] && (at == 2 || [found.domain isEqualToString:MTLCommandBufferErrorDomain]));
  }

  error = nil;
  dispatch_data_t data = dispatch_data_create("garbage", 7, nil, nil);
  CHECK(![device newLibraryWithData:data error:&error] && error.code == MTLLibraryErrorUnsupported);
  CHECK([error.localizedDescription hasPrefix:@"Invalid library file"]);
  CHECK(![device newLibraryWithURL:[NSURL fileURLWithPath:@"/nonexistent"] error:&error]);
  CHECK(error.code == MTLLibraryErrorFileNotFound && [error.localizedDescription hasPrefix:@"library not found"]);
  CHECK(![device newDefaultLibraryWithBundle:NSBundle.mainBundle error:&error]);
  CHECK([error.localizedDescription hasPrefix:@"no default library was found"]);
  id<MTLBinaryArchive> archive = [device newBinaryArchiveWithDescriptor:[MTLBinaryArchiveDescriptor new] error:&error];
  CHECK(![archive serializeToURL:[NSURL fileURLWithPath:@"/nonexistent/archive"] error:&error]);
  CHECK(error.code == MTLBinaryArchiveErrorInternalError);
}

// Handlers of the scheduling see at least that status, come before those of the completion, and may commit others.
static void scheduling(id<MTLDevice> device, id<MTLCommandQueue> queue) {
  id<MTLSharedEvent> event = [device newSharedEvent];
  id<MTLEvent> own = [device newEvent];
  CHECK([own conformsToProtocol:@protocol(MTLEvent)] && ![own conformsToProtocol:@protocol(MTLSharedEvent)]);
  CHECK(![own respondsToSelector:@selector(signaledValue)]);
  CHECK([event conformsToProtocol:@protocol(MTLEvent)] && [event conformsToProtocol:@protocol(MTLSharedEvent)]);
  for (int is_late = 0; is_late < 2; is_late++) {
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    __block MTLCommandBufferStatus seen = 0;
    __block int called = 0, scheduled = 0, completed = 0;
    [commands addScheduledHandler:^(id<MTLCommandBuffer> commands) {
      seen = commands.status;
      scheduled = ++called;
      [[queue commandBuffer] commit];
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> commands) { completed = ++called; }];
    if (is_late) [commands encodeWaitForEvent:event value:1];
    [commands commit];
    if (is_late) {
      CHECK(scheduled == 0 && commands.status == MTLCommandBufferStatusCommitted);
      event.signaledValue = 1;
    }
    [commands waitUntilScheduled];
    CHECK(commands.status >= MTLCommandBufferStatusScheduled);
    [commands waitUntilCompleted];
    CHECK(seen >= MTLCommandBufferStatusScheduled && scheduled == 1 && completed == 2);
  }
}

// Resources of a heap are tracked only if the heap is. A residency set has the size of its last commit.
static void memory(id<MTLDevice> device) {
  NSError *error = nil;
  MTLHeapDescriptor *descriptor = [MTLHeapDescriptor new];
  descriptor.size = 4096;
  for (int is_tracked = 0; is_tracked < 2; is_tracked++) {
    descriptor.hazardTrackingMode = is_tracked ? MTLHazardTrackingModeTracked : MTLHazardTrackingModeDefault;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> part = [heap newBufferWithLength:256 options:MTLResourceStorageModePrivate];
    const MTLHazardTrackingMode mode = is_tracked ? MTLHazardTrackingModeTracked : MTLHazardTrackingModeUntracked;
    CHECK(heap.hazardTrackingMode == mode && part.hazardTrackingMode == mode);
    part = [heap newBufferWithLength:256
                             options:MTLResourceStorageModePrivate | MTLResourceHazardTrackingModeUntracked];
    CHECK(part.hazardTrackingMode == MTLHazardTrackingModeUntracked);
  }
  id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:0];
  CHECK(buffer.hazardTrackingMode == MTLHazardTrackingModeTracked);
  id<MTLResidencySet> set = [device newResidencySetWithDescriptor:[MTLResidencySetDescriptor new] error:&error];
  [set addAllocation:buffer];
  CHECK(set.allocationCount == 1 && set.allocatedSize == 0);
  [set commit];
  CHECK(set.allocatedSize == 4096);
  [set removeAllAllocations];
  CHECK(set.allocationCount == 0 && set.allocatedSize == 4096);
  [set commit];
  CHECK(set.allocatedSize == 0);
}

// What a program changes after it has set a property stays out, and so does what it changes in a copy.
static void copies(id<MTLDevice> device) {
  NSMutableString *name = [NSMutableString stringWithString:@"one"];
  id<MTLBuffer> buffer = [device newBufferWithLength:4 options:0];
  MTLComputePipelineDescriptor *descriptor = [MTLComputePipelineDescriptor new];
  MTLFunctionDescriptor *function = [MTLFunctionDescriptor functionDescriptor];
  buffer.label = descriptor.label = function.name = name;
  MTLFunctionConstantValues *values = [MTLFunctionConstantValues new];
  function.constantValues = values;
  CHECK(function.constantValues != values);
  [name appendString:@" more"];
  CHECK([buffer.label isEqualToString:@"one"] && [descriptor.label isEqualToString:@"one"]);
  CHECK([function.name isEqualToString:@"one"]);
  buffer.label = nil;
  CHECK(buffer.label == nil);

  descriptor.buffers[0].mutability = MTLMutabilityImmutable;
  MTLComputePipelineDescriptor *copy = [descriptor copy];
  CHECK(copy.buffers[0].mutability == MTLMutabilityImmutable);
  copy.buffers[0].mutability = MTLMutabilityMutable;
  CHECK(descriptor.buffers[0].mutability == MTLMutabilityImmutable);
  MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
  pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = 1;
  MTLComputePassDescriptor *other = [pass copy];
  other.sampleBufferAttachments[0].startOfEncoderSampleIndex = 2;
  CHECK(pass.sampleBufferAttachments[0].startOfEncoderSampleIndex == 1);
  CHECK(other.sampleBufferAttachments[0].startOfEncoderSampleIndex == 2);
}

int main(void) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    id<MTLCommandQueue> queue = [device newCommandQueue];
    errors(device, queue);
    scheduling(device, queue);
    memory(device);
    copies(device);
  }
  printf("%d failures\n", failures);
  return failures;
}
