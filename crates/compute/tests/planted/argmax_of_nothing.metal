// The index of the largest value has no value itself if all are minus infinity.
//
// dispatch: 1 x 32
// buffer 0: f32[256] zeros
// buffer 1: u32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device uint *out [[buffer(1)]], uint row [[thread_position_in_grid]]) {
#ifdef FIXED
    uint best = 0;
#else
    uint best;
#endif
    float largest = -INFINITY;
    for (uint column = 0; column < 8; ++column) {
        const float value = row % 2 == 0 ? in[row * 8 + column] : -INFINITY;
        if (value > largest) {
            largest = value;
            best = column;
        }
    }
    out[row] = best;  // finding: uninitialized-read
}
