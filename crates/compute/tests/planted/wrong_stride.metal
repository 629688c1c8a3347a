// The rows of the output are padded, and those of the input are not.
//
// dispatch: 4 x 32
// buffer 0: f32[128] iota
// buffer 1: f32[144] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint column [[thread_position_in_threadgroup]], uint row [[threadgroup_position_in_grid]]) {
#ifdef FIXED
    const uint stride = 32;
#else
    const uint stride = 36;
#endif
    out[row * 36 + column] = in[row * stride + column];  // finding: out-of-bounds-read
}
