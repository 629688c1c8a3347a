// Work at the end of the process, when the main thread has no pool any more; an argument leaves an object behind.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

static id<MTLCommandQueue> queue;

static void at_exit(void) {
  id<MTLCommandBuffer> commands = [queue commandBuffer];
  commands.label = [NSString stringWithFormat:@"number %d", 7];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder endEncoding];
  [commands commit];
  [commands waitUntilCompleted];
  printf("at the end: %s, status %d\n", commands.label.UTF8String, (int)commands.status);
  [queue release];
}

int main(int count, char **arguments) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    queue = [device newCommandQueue];
    atexit(at_exit);
    if (count > 1) printf("left: %d\n", [[device newBufferWithLength:4 options:0] length] == 4);
    [device release];
  }
  return 0;
}
