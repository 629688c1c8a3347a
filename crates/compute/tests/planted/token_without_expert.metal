// The number -1 stands for a token without an expert.
//
// dispatch: 4 x 16
// buffer 0: i32 = 0 3 -1 1
// buffer 1: f32[64] ones
// buffer 2: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const int *ids [[buffer(0)]], device const float *w [[buffer(1)]], device float *y [[buffer(2)]], uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    const int e = ids[g];
#ifdef FIXED
    if (e < 0) return;
#endif
    y[g * 16 + t] = w[e * 16 + int(t)];  // finding: out-of-bounds-read
}
