// A loop sets six of eight elements, and another reads all.
//
// dispatch: 1 x 8
// buffer 0: f32[64] ones
// buffer 1: f32[8] zeros
// buffer 2: u32 = 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]], uint t [[thread_position_in_grid]]) {
#ifdef FIXED
    float v[8] = {};
#else
    float v[8];
#endif
    for (uint i = 0; i < n; i++) v[i] = x[t * 8 + i];
    float s = 0;
    for (uint i = 0; i < 8; i++) s += v[i];  // finding: uninitialized-read
    y[t] = s;
}
