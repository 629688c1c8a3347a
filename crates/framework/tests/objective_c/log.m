// Messages of kernels: log states of queues and of command buffers, levels, handlers.
#include "declarations.h"
#include "metal.h"

static NSString *const source =
    @"#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n"
     "constant os_log tiles(\"com.example\", \"tiles\");\n"
     "kernel void k(device uint *x [[buffer(0)]]) {\n"
     "  tiles.log_debug(\"debug\");\n"
     "  tiles.log_error(\"x is %u\", x[0]);\n"
     "}\n";

// Runs the kernel on a buffer that holds a number.
static void run(id commands, id state, unsigned value) {
  id buffer = [device newBufferWithLength:4 options:0], encoder = [commands computeCommandEncoder];
  *(unsigned *)[buffer contents] = value;
  [encoder setComputePipelineState:state];
  [encoder setBuffer:buffer offset:0 atIndex:0];
  [encoder dispatchThreadgroups:(MTLSize){1, 1, 1} threadsPerThreadgroup:(MTLSize){1, 1, 1}];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  CHECK([commands status] == 4);
  [buffer release];
}

static id logState(NSInteger level) {
  id error = 0, descriptor = [[MTLLogStateDescriptor new] autorelease];
  [descriptor setLevel:level];
  return [device newLogStateWithDescriptor:descriptor error:&error];
}

int main(void) {
  @autoreleasepool {
    device = MTLCreateSystemDefaultDevice();
    id state = pipeline(source, @"k");
    id of_queue = logState(0), of_commands = logState(4), silent = logState(5), without_handler = logState(4);
    __block int all = 0, errors = 0, again = 0;
    [of_queue addLogHandler:^(id subsystem, id category, NSInteger level, id message) {
      CHECK(!strcmp([subsystem UTF8String], "com.example") && !strcmp([category UTF8String], "tiles"));
      CHECK(!strcmp([message UTF8String], all % 2 ? "x is 7" : "debug") && level == (all % 2 ? 4 : 1));
      all++;
    }];
    [of_commands addLogHandler:^(id subsystem, id category, NSInteger level, id message) {
      CHECK(!strcmp([message UTF8String], "x is 8") && level == 4);
      errors++;
    }];
    [of_commands addLogHandler:^(id subsystem, id category, NSInteger level, id message) { again++; }];
    [silent addLogHandler:^(id subsystem, id category, NSInteger level, id message) { CHECK(0); }];

    id description = [[MTLCommandQueueDescriptor new] autorelease];
    [description setLogState:of_queue];
    id logging = [device newCommandQueueWithDescriptor:description];
    @autoreleasepool {
      run([logging commandBuffer], state, 7);
      CHECK(all == 2);
      // That of a command buffer comes first, and takes errors only.
      id own = [[MTLCommandBufferDescriptor new] autorelease];
      [own setLogState:of_commands];
      run([logging commandBufferWithDescriptor:own], state, 8);
      CHECK(all == 2 && errors == 1 && again == 1);
      [own setLogState:silent];
      run([logging commandBufferWithDescriptor:own], state, 9);
      // Without a handler, a message is printed; without a log state, it is dropped.
      [own setLogState:without_handler];
      run([logging commandBufferWithDescriptor:own], state, 10);
      queue = [device newCommandQueue];
      run([queue commandBuffer], state, 11);
      CHECK(all == 2 && errors == 1 && again == 1);
    }
    [queue release];
    [logging release];
    [of_queue release];
    [of_commands release];
    [silent release];
    [without_handler release];
    [state release];
    [device release];
  }
  return failures;
}
