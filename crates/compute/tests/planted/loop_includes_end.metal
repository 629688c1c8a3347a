// The condition of the loop is <= where < is meant.
//
// dispatch: 1 x 4
// buffer 0: f32[32] iota
// buffer 1: f32[4] zeros
// buffer 2: u32 = 8
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
#define LESS <
#else
#define LESS <=
#endif
kernel void k(device const float *rows [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint row [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint j = 0; j LESS n; ++j) {
        sum += rows[row * n + j];  // finding: out-of-bounds-read
    }
    out[row] = sum;
}
