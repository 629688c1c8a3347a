// Four values are loaded at once although the length is no multiple of 4.
//
// dispatch: 1 x 8
// buffer 0: f32[30] iota
// buffer 1: f32[8] zeros
// buffer 2: u32 = 30
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    float sum = 0;
    for (uint j = 4 * i; j < min(4 * i + 4, n); ++j) { sum += x[j]; }
    out[i] = sum;
#else
    const float4 v = *(device const float4 *)(x + 4 * i);  // finding: out-of-bounds-read
    out[i] = v.x + v.y + v.z + v.w;
#endif
}
