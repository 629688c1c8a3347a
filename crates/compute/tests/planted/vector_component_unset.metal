// The last component of a vector is stored, and only three were set.
//
// dispatch: 1 x 32
// buffer 0: f32[128] iota
// buffer 1: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const packed_float3 *in [[buffer(0)]], device float4 *out [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
    float4 v;
    v.xyz = float3(in[i]);
    const float4 twice = v * 2;
    const float length_squared = dot(twice.xyz, v.xyz);
#ifdef FIXED
    v.w = length_squared;
    out[i] = v;
#else
    out[i] = v + length_squared;  // finding: uninitialized-read
#endif
}
