// 0 - 1 is a large unsigned number.
//
// dispatch: 2 x 32
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (i == 0) { return; }
#endif
    out[i] = in[i] - in[i - 1u];  // finding: out-of-bounds-read
}
