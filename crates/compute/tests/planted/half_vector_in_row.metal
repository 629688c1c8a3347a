// Rows of 6 halfs are read as vectors of four: every other row begins at an address that is no multiple of 8.
//
// dispatch: 1 x 8
// buffer 0: f16[48] ones
// buffer 1: f32[8] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const half *x [[buffer(0)]], device float *out [[buffer(1)]], uint row [[thread_position_in_grid]]) {
#ifdef FIXED
    const half4 v = half4(*(device const packed_half4 *)(x + 6 * row));
#else
    const half4 v = *(device const half4 *)(x + 6 * row);  // finding: misaligned-read
#endif
    out[row] = float(v.x + v.w);
}
