// A pointer walks one element beyond a private array.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros
// buffer 1: u32 = 9
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint t [[thread_position_in_grid]]) {
#ifdef FIXED
    float values[9];
#else
    float values[8];
#endif
    thread float *p = values;
    for (uint i = 0; i < n; i++) {
        *p++ = t + i;  // finding: out-of-bounds-write
    }
    y[t] = values[t % 8];
}
