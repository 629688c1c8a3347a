// A variance becomes negative by rounding.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const float variance = in[i] - 4;
#ifdef FIXED
    out[i] = sqrt(max(variance, 0.0f));
#else
    out[i] = sqrt(variance);  // finding: nan
#endif
}
