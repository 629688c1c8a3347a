// Descriptors, reflection and encoders of kernels, without automatic reference counting; its argument names a mistake.
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

static NSString *const source = @"struct Inner { float4 a; };\n"
                                 "struct Parameters { uint n; int list[5]; device float *next; Inner inner; };\n"
                                 "constant int K [[function_constant(0)]];\n"
                                 "kernel void fill(device float *x [[buffer(0)]], constant Parameters &p [[buffer(1)]],\n"
                                 "                 uint i [[thread_position_in_grid]]) { x[i] = p.n + p.list[1] + K; }\n";

static void reflection(MTLComputePipelineReflection *reflection) {
  id<MTLBufferBinding> binding = (id<MTLBufferBinding>)reflection.bindings[1];
  MTLStructType *type = binding.bufferStructType;
  CHECK(binding.bufferPointerType.elementType == MTLDataTypeStruct && binding.bufferPointerType.dataSize == 48);
  CHECK([type memberByName:@"n"].dataType == MTLDataTypeUInt);
  MTLStructMember *list = [type memberByName:@"list"];
  CHECK(list.dataType == MTLDataTypeArray && list.arrayType.arrayLength == 5 && list.arrayType.stride == 4);
  CHECK(list.arrayType.elementType == MTLDataTypeInt);
  CHECK([type memberByName:@"next"].pointerType.elementType == MTLDataTypeFloat);
  CHECK([type memberByName:@"inner"].dataType == MTLDataTypeStruct);
}

int main(int count, char **arguments) {
  @autoreleasepool {
    const char *mistake = count > 1 ? arguments[1] : "";
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    MTLFunctionConstantValues *constants = [[MTLFunctionConstantValues new] autorelease];
    int k = 10;
    [constants setConstantValue:&k type:MTLDataTypeInt withName:@"K"];
    MTLFunctionDescriptor *wanted = [MTLFunctionDescriptor functionDescriptor];
    wanted.name = @"fill";
    wanted.specializedName = @"fill_10";
    wanted.constantValues = constants;
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    id<MTLFunction> function = [[library newFunctionWithDescriptor:wanted error:&error] autorelease];
    CHECK([function.name isEqualToString:@"fill_10"]);
    descriptor.computeFunction = function;
    descriptor.maxTotalThreadsPerThreadgroup = 64;
    MTLComputePipelineReflection *info = nil;
    const MTLPipelineOption options = MTLPipelineOptionBindingInfo | MTLPipelineOptionBufferTypeInfo;
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithDescriptor:descriptor
                                                                              options:options
                                                                           reflection:&info
                                                                                error:&error];
    CHECK(state.maxTotalThreadsPerThreadgroup == 64);
    reflection(info);

    MTLCaptureManager *captures = [MTLCaptureManager sharedCaptureManager];
    id<MTLCaptureScope> scope = [captures newCaptureScopeWithDevice:device];
    captures.defaultCaptureScope = scope;
    CHECK(captures.defaultCaptureScope == scope);
    captures.defaultCaptureScope = nil;
    [scope release];

    MTLBlitPassDescriptor *pass = [MTLBlitPassDescriptor blitPassDescriptor];
    CHECK(pass.sampleBufferAttachments[0].sampleBuffer == nil);
    void (^block)(void) = [[^{ printf("%d\n", k); } copy] autorelease];
    block();

    id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:MTLResourceStorageModeShared];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    struct {
      unsigned n;
      int list[5];
      char rest[24];
    } parameters = {5, {0, 7}, {0}};
    [encoder setComputePipelineState:state];
    [encoder setBuffer:buffer offset:0 atIndex:0];
    [encoder setBytes:&parameters length:sizeof parameters atIndex:1];
    if (!strcmp(mistake, "nil buffer")) {
      [encoder setBuffer:nil offset:0 atIndex:0];
    }
    const NSUInteger width = !strcmp(mistake, "too many threads") ? 128 : 64;
    [encoder dispatchThreads:MTLSizeMake(256, 1, 1) threadsPerThreadgroup:MTLSizeMake(width, 1, 1)];
    [encoder endEncoding];
    if (!strcmp(mistake, "after the end")) {
      [encoder useResource:buffer usage:MTLResourceUsageRead];
    }
    if (!strcmp(mistake, "unknown message")) {
      [(id)device performSelector:@selector(newTextureViewPoolWithDescriptor:error:)];
    }
    [commands commit];
    [commands waitUntilCompleted];
    CHECK(((const float *)buffer.contents)[255] == 22);
    [queue release];
    [buffer release];
    [state release];
    [library release];
    [device release];
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
