// A vector of four components is indexed with 4.
//
// dispatch: 1 x 5
// buffer 0: f32[20] iota
// buffer 1: f32[5] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float4 *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const float4 v = in[i];
#ifdef FIXED
    out[i] = v[i & 3];
#else
    out[i] = v[i];  // finding: out-of-bounds-read
#endif
}
