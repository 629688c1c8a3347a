// Half of the lanes multiply matrices once more.
//
// dispatch: 1 x 32
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *a [[buffer(0)]], device float *y [[buffer(1)]], uint lane [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 m, acc = make_filled_simdgroup_matrix<float, 8, 8>(0.f);
    simdgroup_load(m, a, 8);
#ifdef FIXED
    const uint steps = 3;
#else
    const uint steps = 2 + (lane & 1);
#endif
    for (uint i = 0; i < steps; i++) {
        simdgroup_multiply_accumulate(acc, m, m, acc);  // finding: divergent-matrix
    }
    simdgroup_store(acc, y, 8);
}
