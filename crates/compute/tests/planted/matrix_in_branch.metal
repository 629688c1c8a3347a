// Simdgroup matrices are multiplied by some lanes of a simdgroup.
//
// dispatch: 1 x 32
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 a;
    simdgroup_float8x8 c;
#ifndef FIXED
    if (in[lane] + float(lane) > 8) {
#endif
        simdgroup_load(a, in, 8);  // finding: divergent-matrix
        simdgroup_multiply(c, a, a);  // finding: divergent-matrix?
        simdgroup_store(c, out, 8);  // finding: divergent-matrix?
#ifndef FIXED
    }
#endif
}
