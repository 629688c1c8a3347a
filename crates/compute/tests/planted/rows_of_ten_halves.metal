// Rows of ten numbers are read as vectors of four.
//
// dispatch: 1,1 x 2,5
// buffer 0: f16[50] ones
// buffer 1: f16[40] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const half *x [[buffer(0)]], device half4 *y [[buffer(1)]], uint2 p [[thread_position_in_grid]]) {
    device const half *row = x + p.y * 10;
#ifdef FIXED
    y[p.y * 2 + p.x] = half4(((device const packed_half4 *)row)[p.x]);
#else
    y[p.y * 2 + p.x] = ((device const half4 *)row)[p.x];  // finding: misaligned-read
#endif
}
