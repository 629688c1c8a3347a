// A probability of zero goes through a logarithm.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f32[32] zeros
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *p [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_position_in_grid]]) {
#ifdef FIXED
    y[t] = log(max(p[t], 1e-9f));
#else
    y[t] = log(p[t]);  // finding: infinity
#endif
}
