// A function fills more elements than the array of its caller has.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros
// buffer 1: u32 = 9
#include <metal_stdlib>
using namespace metal;

void fill(thread float *p, uint n) {
    for (uint j = 0; j < n; j++) p[j] = j;  // finding: out-of-bounds-write
}
kernel void k(device float *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    float v[9];
#else
    float v[8];
#endif
    fill(v, n);
    y[i] = v[i % 8];
}
