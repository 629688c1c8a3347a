// An array of accumulators is set in one branch only.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
// buffer 2: u32 = 3
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
    float sums[8];
#ifdef FIXED
    for (uint j = 0; j < 8; ++j) { sums[j] = 0; }
#else
    for (uint j = 0; j < n; ++j) { sums[j] = 0; }
#endif
    const uint at = i % 8;
    sums[at] += in[i];  // finding: uninitialized-read
    out[i] = sums[at];
}
