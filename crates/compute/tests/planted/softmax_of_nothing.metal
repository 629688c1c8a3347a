// All logits are masked: the sum of the exponentials is zero.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f32[32] zeros
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *sums [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = sums[i] > 0 ? sums[i] / sums[i] : 0.0f;
#else
    out[i] = sums[i] / sums[i];  // finding: nan
#endif
}
