// A stride that is a function constant does not fit the matrix.
//
// dispatch: 8 x 32
// buffer 0: f32[256] ones
// buffer 1: f32[8] zeros
// constant 0: u32 = 33
#include <metal_stdlib>
using namespace metal;

constant uint stride [[function_constant(0)]];
constant bool has_bias [[function_constant(1)]];
constant bool with_bias = is_function_constant_defined(has_bias) && has_bias;
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], device const float *bias [[buffer(2), function_constant(with_bias)]],
              uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
#ifdef FIXED
    float s = x[row * (stride - 1) + lane];
#else
    float s = x[row * stride + lane];  // finding: out-of-bounds-read
#endif
    if (with_bias) s += bias[row];
    s = simd_sum(s);
    if (lane == 0) y[row] = s;
}
