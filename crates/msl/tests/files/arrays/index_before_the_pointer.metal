// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *p) { p[1] = 2[p]; }
