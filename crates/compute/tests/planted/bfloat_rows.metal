// Rows of bfloat are addressed with the size of float.
//
// dispatch: 1 x 32
// buffer 0: f16[128] ones
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const bfloat *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device const bfloat *row = x + 3 * 32;
#else
    device const bfloat *row = (device const bfloat *)((device const char *)x + 3 * 32 * sizeof(float));
#endif
    y[i] = float(row[i]);  // finding: out-of-bounds-read
}
