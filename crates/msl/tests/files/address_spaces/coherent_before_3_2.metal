// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(coherent(device) device float *a) {}  // error: expected parameter declarator
