// Argument buffers, written by encoders and by the program itself, with automatic reference counting.
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

static NSString *const source =
    @"#include <metal_stdlib>\n"
     "struct Inputs { device const int *a [[id(2)]]; int factor [[id(5)]]; device const int *others[2] [[id(7)]];\n"
     "                metal::array<device int *, 2> out [[id(10)]]; char tail [[id(12)]]; };\n"
     "kernel void sum(constant Inputs &in [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
     "  int s = in.a[i] * in.factor + in.others[0][i] - in.others[1][i];\n"
     "  in.out[0][i] = s; in.out[1][i] = s + in.tail;\n"
     "}\n"
     "kernel void second(device Inputs *in [[buffer(0)]], device int *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
     "  out[i] = in[1].a[i] + in[1].factor;\n"
     "}\n";

enum { COUNT = 40 };

static id<MTLBuffer> numbers(id<MTLDevice> device, int factor) {
  id<MTLBuffer> buffer = [device newBufferWithLength:COUNT * 4 options:0];
  for (int i = 0; i < COUNT; i++) ((int *)buffer.contents)[i] = i * factor;
  return buffer;
}

static void run(id<MTLDevice> device, id<MTLComputePipelineState> state, NSArray<id<MTLBuffer>> *used,
                void (^bind)(id<MTLComputeCommandEncoder>)) {
  id<MTLCommandBuffer> commands = [[device newCommandQueue] commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:state];
  for (id<MTLBuffer> buffer in used) [encoder useResource:buffer usage:MTLResourceUsageRead | MTLResourceUsageWrite];
  bind(encoder);
  [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK(commands.error == nil);
}

// All members of a buffer, at an offset in it.
static void members(id<MTLDevice> device, id<MTLFunction> function, id<MTLComputePipelineState> state) {
  MTLAutoreleasedArgument argument = nil;
  id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:1 reflection:&argument];
  CHECK([argument.name isEqualToString:@"in"] && argument.index == 1);
  CHECK(encoder.encodedLength == 56 && encoder.alignment == 8 && encoder.device == device);
  MTLStructType *structure = ((id<MTLBufferBinding>)argument).bufferStructType;
  CHECK([structure memberByName:@"a"].argumentIndex == 2 && [structure memberByName:@"factor"].argumentIndex == 5);
  CHECK([structure memberByName:@"others"].argumentIndex == 7 && [structure memberByName:@"tail"].argumentIndex == 12);
  CHECK(((id<MTLBufferBinding>)argument).bufferPointerType.elementIsArgumentBuffer);

  id<MTLBuffer> a = numbers(device, 3), b = numbers(device, 5), c = numbers(device, 1);
  id<MTLBuffer> first = numbers(device, 0), last = numbers(device, 0);
  id<MTLBuffer> arguments = [device newBufferWithLength:128 options:0];
  [encoder setArgumentBuffer:arguments offset:64];
  [encoder setBuffer:a offset:0 atIndex:2];
  *(int *)[encoder constantDataAtIndex:5] = 100;
  const id<MTLBuffer> others[] = {b, c};
  const NSUInteger offsets[] = {0, 0};
  [encoder setBuffers:others offsets:offsets withRange:NSMakeRange(7, 2)];
  [encoder setBuffer:first offset:0 atIndex:10];
  [encoder setBuffer:last offset:0 atIndex:11];
  *(char *)[encoder constantDataAtIndex:12] = 7;
  run(device, state, @[ a, b, c, first, last ], ^(id<MTLComputeCommandEncoder> encoder) {
    [encoder setBuffer:arguments offset:64 atIndex:1];
  });
  for (int i = 0; i < COUNT; i++) {
    CHECK(((int *)first.contents)[i] == i * 304 && ((int *)last.contents)[i] == i * 304 + 7);
  }
}

// Elements of an array of argument buffers; an address that the program writes itself.
static void elements(id<MTLDevice> device, id<MTLFunction> function, id<MTLComputePipelineState> state) {
  id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:0];
  id<MTLBuffer> a = numbers(device, 2), out = numbers(device, 0);
  id<MTLBuffer> arguments = [device newBufferWithLength:2 * encoder.encodedLength options:0];
  [encoder setArgumentBuffer:arguments startOffset:0 arrayElement:1];
  [encoder setBuffer:a offset:8 atIndex:2];
  *(int *)[encoder constantDataAtIndex:5] = 1000;
  CHECK(*(uint64_t *)((char *)arguments.contents + encoder.encodedLength) == a.gpuAddress + 8);
  run(device, state, @[ a ], ^(id<MTLComputeCommandEncoder> encoder) {
    [encoder setBuffer:arguments offset:0 atIndex:0];
    [encoder setBuffer:out offset:0 atIndex:2];
  });
  for (int i = 0; i < COUNT - 2; i++) CHECK(((int *)out.contents)[i] == (i + 2) * 2 + 1000);
}

// Members that the program describes lie as in the struct.
static void descriptors(id<MTLDevice> device) {
  MTLArgumentDescriptor *value = [MTLArgumentDescriptor argumentDescriptor];
  value.dataType = MTLDataTypeInt;
  value.index = 5;
  MTLArgumentDescriptor *pointer = [MTLArgumentDescriptor argumentDescriptor];
  pointer.dataType = MTLDataTypePointer;
  pointer.index = 2;
  MTLArgumentDescriptor *pointers = [pointer copy];
  pointers.index = 7;
  pointers.arrayLength = 4;
  id<MTLArgumentEncoder> encoder = [device newArgumentEncoderWithArguments:@[ value, pointers, pointer ]];
  CHECK(encoder.encodedLength == 48 && encoder.alignment == 8);
  id<MTLBuffer> arguments = [device newBufferWithLength:48 options:0], a = numbers(device, 1);
  [encoder setArgumentBuffer:arguments offset:0];
  [encoder setBuffer:a offset:4 atIndex:9];
  CHECK(((uint64_t *)arguments.contents)[4] == a.gpuAddress + 4);
  CHECK((char *)[encoder constantDataAtIndex:5] == (char *)arguments.contents + 8);
}

int main(int count, char **arguments) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    if (!library) return printf("%s\n", error.localizedDescription.UTF8String), 1;
    id<MTLFunction> sum = [library newFunctionWithName:@"sum"], second = [library newFunctionWithName:@"second"];
    if (count > 1) {
      id<MTLArgumentEncoder> encoder = [sum newArgumentEncoderWithBufferIndex:1];
      id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
      NSString *mistake = @(arguments[1]);
      if ([mistake isEqualToString:@"no target"]) [encoder setBuffer:buffer offset:0 atIndex:2];
      if ([mistake isEqualToString:@"offset"]) [encoder setArgumentBuffer:buffer offset:16];
      [encoder setArgumentBuffer:buffer offset:0];
      if ([mistake isEqualToString:@"index"]) [encoder setBuffer:buffer offset:0 atIndex:3];
      if ([mistake isEqualToString:@"value"]) [encoder setBuffer:buffer offset:0 atIndex:5];
      if ([mistake isEqualToString:@"plain"]) [second newArgumentEncoderWithBufferIndex:2];
    }
    members(device, sum, [device newComputePipelineStateWithFunction:sum error:&error]);
    elements(device, second, [device newComputePipelineStateWithFunction:second error:&error]);
    descriptors(device);
  }
  printf("%d failures\n", failures);
  return failures != 0;
}
