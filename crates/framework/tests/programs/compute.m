// Computes with Metal from Objective-C, without automatic reference counting.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

static NSString *const source = @"#include <metal_stdlib>\n"
                                 "constant int K [[function_constant(0)]];\n"
                                 "kernel void add(device float *x [[buffer(0)]], constant float &y [[buffer(1)]],\n"
                                 "                uint i [[thread_position_in_grid]]) { x[i] = 2 * x[i] + y + K; }\n";

int main(int count, char **arguments) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> wrong = [device newLibraryWithSource:@"kernel void k() { y = 1; }" options:nil error:&error];
    if (wrong || error.code != MTLLibraryErrorCompileFailure) {
      return 1;
    }
    printf("error: %s\n", error.localizedDescription.UTF8String);

    error = nil;
    MTLCompileOptions *options = [MTLCompileOptions new];
    options.preprocessorMacros = @{@"UNUSED" : @1};
    id<MTLLibrary> library = [device newLibraryWithSource:source options:options error:&error];
    [options release];
    for (NSString *name in library.functionNames) {
      printf("function %s\n", name.UTF8String);
    }
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues alloc] init];
    int k = 4;
    [constants setConstantValue:&k type:MTLDataTypeInt atIndex:0];
    id<MTLFunction> function = [library newFunctionWithName:@"add" constantValues:constants error:&error];
    [constants release];
    MTLComputePipelineReflection *reflection = nil;
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function
                                                                            options:MTLPipelineOptionBindingInfo
                                                                         reflection:&reflection
                                                                              error:&error];
    if (!state) {
      printf("%s\n", error.description.UTF8String);
      return 1;
    }
    for (id<MTLBinding> binding in reflection.bindings) {
      printf("binding %s %lu\n", binding.name.UTF8String, (unsigned long)binding.index);
    }

    const float values[4] = {0, 1, 2, 3};
    id<MTLBuffer> buffer = [device newBufferWithBytes:values length:sizeof values options:MTLResourceStorageModeShared];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    // Mistakes that shader validation finds.
    const int is_long = count > 1 && !strcmp(arguments[1], "too many threads");
    const int is_twice = count > 1 && !strcmp(arguments[1], "without barrier");
    id<MTLComputeCommandEncoder> encoder =
        is_twice ? [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent] : [commands computeCommandEncoder];
    const float y = 1;
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder setBytes:&y length:sizeof y atIndex:1];
    for (int i = 0; i < (is_twice ? 2 : 1); i++) {
      [encoder dispatchThreads:MTLSizeMake(is_long ? 5 : 4, 1, 1) threadsPerThreadgroup:MTLSizeMake(is_long ? 5 : 4, 1, 1)];
    }
    [encoder endEncoding];
    __block int completed = 0;
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    [commands addCompletedHandler:^(id<MTLCommandBuffer> finished) {
      completed = finished.status == MTLCommandBufferStatusCompleted;
      dispatch_semaphore_signal(done);
    }];
    [commands commit];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    dispatch_release(done);
    if (count > 1 && !strcmp(arguments[1], "commit twice")) {
      [commands commit];
    }
    if (count > 1 && !strcmp(arguments[1], "unaligned")) {
      char bytes[8] = "shared";
      id<MTLBuffer> shared = [device newBufferWithBytesNoCopy:bytes + 1
                                                       length:5
                                                      options:MTLResourceStorageModeShared
                                                  deallocator:nil];
      printf("%s\n", (const char *)shared.contents);
      [shared release];
    }
    const float *result = buffer.contents;
    printf("%g %g %g %g\n", result[0], result[1], result[2], result[3]);
    const int is_right = completed && result[0] == 5 && result[3] == 11;
    [queue release];
    [buffer release];
    [state release];
    [function release];
    [library release];
    [device release];
    return is_right ? 0 : 1;
  }
}
