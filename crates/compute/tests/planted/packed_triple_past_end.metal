// A packed vector of three begins before the end and ends behind it.
//
// dispatch: 1 x 8
// buffer 0: f32[23] iota
// buffer 1: f32[8] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const packed_float3 *p [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (i == 7) { y[i] = 0; return; }
#endif
    y[i] = length(float3(p[i]));  // finding: out-of-bounds-read
}
