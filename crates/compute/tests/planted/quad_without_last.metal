// One lane of each quad has returned, and its neighbour asks for its value.
//
// dispatch: 1 x 32
// buffer 0: f32[32] ones
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
#ifndef FIXED
    if (t % 4 == 3) return;
#endif
    y[t] = x[t] + quad_shuffle_xor(x[t], 1);  // finding: inactive-lane
}
