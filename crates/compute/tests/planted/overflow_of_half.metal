// A sum of squares does not fit half.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const half x = half(in[i]) * half(20);
#ifdef FIXED
    out[i] = float(x) * float(x);
#else
    out[i] = float(x * x);  // finding: infinity
#endif
}
