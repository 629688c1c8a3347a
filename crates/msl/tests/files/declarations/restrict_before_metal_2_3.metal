// test check
// options: --std metal2.2
// SPIRV-Cross of 2021: a keyword until Metal 2.3.
#include <metal_stdlib>
using namespace metal;

struct Buffer { device float *restrict first; float values[4]; };
kernel void k(device float *restrict a [[buffer(0)]], const device Buffer& restrict b [[buffer(1)]]) {
  device float *restrict c = a;
  *c = b.values[0];
  int restrict = 1;  // error: expected
}
