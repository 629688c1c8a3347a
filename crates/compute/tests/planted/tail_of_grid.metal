// The grid is rounded up to whole threadgroups, and the tail is not masked.
//
// dispatch: 4 x 32
// buffer 0: f32[100] iota
// buffer 1: f32[100] zeros
// buffer 2: u32 = 100
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (i >= n) { return; }
#endif
    float value = in[i];  // finding: out-of-bounds-read
    out[i] = value + n;   // finding: out-of-bounds-write
}
