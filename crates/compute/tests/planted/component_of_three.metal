// A vector of three components is asked for its fourth, which is padding.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    const float3 v = float3(i, i + 1, i + 2);
#ifdef FIXED
    y[i] = v[i % 3];
#else
    y[i] = v[i % 4];  // finding: out-of-bounds-read
#endif
}
