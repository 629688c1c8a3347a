// A shuffle reads lanes that did not take the branch.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]]) {
    const float value = in[lane];
#ifdef FIXED
    const float other = simd_shuffle_xor(value, 16);
    if (value < 16) { out[lane] = other; }
#else
    if (value < 16) {
        out[lane] = simd_shuffle_xor(value, 16);  // finding: inactive-lane
    }
#endif
}
