// The mistake is in a function that the kernel calls through a template.
//
// dispatch: 1 x 32
// buffer 0: f16[32] zeros
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

template <typename T> float next(device const T *x, uint i) {
#ifdef FIXED
    return float(x[min(i + 1, 31u)]);
#else
    return float(x[i + 1]);  // finding: out-of-bounds-read
#endif
}

kernel void k(device const half *x [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    out[i] = next(x, i);
}
