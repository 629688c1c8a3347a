// The sums of the second reduction overwrite those of the first while they are read.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[2] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float partials[2];
    const float sum = simd_sum(in[i]);
    if (lane == 0) { partials[simdgroup] = sum; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float all = partials[0] + partials[1];  // finding: race?
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    const float square = simd_sum(in[i] * in[i]);
    if (lane == 0) {
        partials[simdgroup] = square;  // finding: race
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) { out[0] = all; out[1] = partials[0] + partials[1]; }
}
