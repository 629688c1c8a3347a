// A pointer to one of two private arrays is indexed by the length of the other.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros
// buffer 1: u32 = 6
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float a[4], b[8];
    for (uint j = 0; j < 4; j++) a[j] = j;
    for (uint j = 0; j < 8; j++) b[j] = -float(j);
#ifdef FIXED
    thread float *p = n > 4 ? b : a;
#else
    thread float *p = i & 1 ? b : a;
#endif
    y[i] = p[n - 1];  // finding: out-of-bounds-read
}
