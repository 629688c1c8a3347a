// A sum in float is stored as half, which has no number beyond 65504.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f16[32] zeros
// buffer 1: u32 = 70000
#include <metal_stdlib>
using namespace metal;

kernel void k(device half *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint t [[thread_position_in_grid]]) {
    float sum = float(n) + t;
#ifdef FIXED
    sum = min(sum, 65504.0f);
#endif
    y[t] = half(sum);  // finding: infinity
}
