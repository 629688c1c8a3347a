// A private tile is read in a row that it does not have.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros
// buffer 1: u32 = 4
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float acc[4][3];
    for (uint r = 0; r < 4; r++) for (uint c = 0; c < 3; c++) acc[r][c] = r * c + i;
    float s = 0;
#ifdef FIXED
    for (uint c = 0; c < 3; c++) s += acc[n - 1][c];
#else
    for (uint c = 0; c < 3; c++) s += acc[n][c];  // finding: out-of-bounds-read
#endif
    y[i] = s;
}
