// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device int *x) {
  asm("nop");  // error: 'asm' is not supported in Metal
}
