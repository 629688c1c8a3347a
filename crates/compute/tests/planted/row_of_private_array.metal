// A row of a private array is read beyond its end, which is the next row.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
    float t[2][4];
    for (uint j = 0; j < 8; j++) t[j / 4][j % 4] = x[j];
#ifdef FIXED
    y[i] = t[0][i % 4];
#else
    y[i] = t[0][i % 5];  // finding: out-of-bounds-read
#endif
}
