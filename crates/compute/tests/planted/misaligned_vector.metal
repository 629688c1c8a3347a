// A vector of four floats is read at an address that is no multiple of 16.
//
// dispatch: 1 x 8
// buffer 0: f32[64] iota
// buffer 1: f32[8] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const float4 v = float4(((device const packed_float4 *)(x + 1))[i]);
#else
    const float4 v = ((device const float4 *)(x + 1))[i];  // finding: misaligned-read
#endif
    out[i] = v.x + v.w;
}
