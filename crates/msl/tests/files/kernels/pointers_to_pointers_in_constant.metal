// test check
#include <metal_stdlib>
using namespace metal;

struct Buffers { device float *a; device float *b; };
kernel void argument_buffer(constant Buffers &buffers [[buffer(0)]], device float *out) { out[0] = buffers.a[0] + buffers.b[1]; }
