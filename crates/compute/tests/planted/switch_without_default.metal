// No case of a switch sets the scale.
//
// dispatch: 1 x 32
// buffer 0: f32[32] ones
// buffer 1: f32[32] zeros
// buffer 2: u32 = 0
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &f [[buffer(2)]], uint t [[thread_position_in_grid]]) {
    float scale;
    switch (f) {
        case 1: scale = 2; break;
        case 2: scale = 3; break;
#ifdef FIXED
        default: scale = 1;
#endif
    }
    y[t] = x[t] * scale;  // finding: uninitialized-read
}
