// A pointer to one of two buffers is indexed by the length of the other.
//
// dispatch: 1 x 32
// buffer 0: f32[16] ones
// buffer 1: f32[32] ones
// buffer 2: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *y [[buffer(2)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device const float *p = i < 16 ? a : b;
#else
    device const float *p = i & 1 ? a : b;
#endif
    y[i] = p[i];  // finding: out-of-bounds-read
}
