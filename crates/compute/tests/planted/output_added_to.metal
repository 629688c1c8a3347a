// The output is added to, and nothing set it to zero.
//
// dispatch: 2 x 32
// buffer 0: f32[64] iota
// buffer 1: f32[64] uninitialized
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = in[i];
#else
    out[i] += in[i];  // finding: uninitialized-read
#endif
}
