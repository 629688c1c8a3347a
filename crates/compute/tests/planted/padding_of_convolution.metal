// A convolution skips what is beyond the last row and column, and not what is before the first.
//
// dispatch: 1,1,5 x 9,9,1
// buffer 0: f32[243] ones
// buffer 1: f32[135] ones
// buffer 2: f32[405] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device const float *w [[buffer(1)]], device float *y [[buffer(2)]], uint3 p [[thread_position_in_grid]]) {
    float s = 0;
    for (int c = 0; c < 3; c++) for (int dy = 0; dy < 3; dy++) for (int dx = 0; dx < 3; dx++) {
        const int sy = int(p.y) + dy - 1, sx = int(p.x) + dx - 1;
#ifdef FIXED
        if (sy < 0 || sx < 0 || sy >= 9 || sx >= 9) continue;
#else
        if (sy >= 9 || sx >= 9) continue;
#endif
        s += x[(c * 9 + sy) * 9 + sx] * w[((p.z * 3 + c) * 3 + dy) * 3 + dx];  // finding: out-of-bounds-read
    }
    y[(p.z * 9 + p.y) * 9 + p.x] = s;
}
