// A copy of a view checks the number of its elements, and reads at their strides.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
// buffer 2: u32 = 3
#include <metal_stdlib>
using namespace metal;

// MLX, issue 3836: strided copies are bounded by their number of elements.
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &stride [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (i * stride >= 64) { return; }
#else
    if (i >= 64) { return; }
#endif
    out[i] = in[i * stride];  // finding: out-of-bounds-read
}
