// A stencil reads the element before the first one.
//
// dispatch: 2 x 32
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const int left = max(int(i) - 1, 0);
#else
    const int left = int(i) - 1;
#endif
    out[i] = in[left];  // finding: out-of-bounds-read
}
