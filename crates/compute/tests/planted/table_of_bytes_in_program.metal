// A table of the program is indexed by a nibble that was not masked.
//
// dispatch: 1 x 32
// buffer 0: u8[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

constant float kvalues[16] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0, -.5, -1, -1.5, -2, -3, -4, -6};
kernel void k(device const uchar *q [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    y[i] = kvalues[q[i] & 0xf];
#else
    y[i] = kvalues[q[i]];  // finding: out-of-bounds-read
#endif
}
