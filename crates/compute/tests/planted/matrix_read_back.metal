// A simdgroup stores a matrix that another one reads, without a barrier.
//
// dispatch: 1 x 64
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *a [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_index_in_threadgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float out[64];
    simdgroup_float8x8 m, r;
    if (sg == 0) {
        simdgroup_load(m, a, 8);
        simdgroup_multiply(r, m, m);
        simdgroup_store(r, out, 8);
    }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    y[t] = out[t];  // finding: race
}
