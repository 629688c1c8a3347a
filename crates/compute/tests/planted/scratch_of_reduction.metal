// All places of the scratch memory are added, and only some simdgroups exist.
//
// dispatch: 1 x 64
// buffer 0: f32[64] ones
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup float partials[32];
    const float sum = simd_sum(in[i]);
    if (lane == 0) { partials[simdgroup] = sum; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
#ifdef FIXED
        const float part = lane < simdgroups ? partials[lane] : 0.0f;
#else
        const float part = partials[lane] * float(simdgroups > 0);  // finding: uninitialized-read
#endif
        const float all = simd_sum(part);
        if (lane == 0) { out[0] = all; }
    }
}
