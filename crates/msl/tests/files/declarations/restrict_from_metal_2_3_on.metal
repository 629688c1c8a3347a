// test check
// options: --std metal2.3
#include <metal_stdlib>
using namespace metal;

kernel void names(device float *restrict [[buffer(0)]]) { int i = int(restrict[0]); }
kernel void k(device float *restrict a [[buffer(0)]]) {}  // error: expected ')'
