// The sum of a simdgroup is taken for that of the threadgroup: two simdgroups store theirs in the same place.
//
// dispatch: 2 x 64
// buffer 0: f32[128] iota
// buffer 1: f32[2] zeros
#include <metal_stdlib>
using namespace metal;

// FlexAIDdS, issue 374: simd_sum in threadgroups of 256 threads.
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float partials[2];
    const float sum = simd_sum(in[i]);
    if (lane == 0) { partials[simdgroup] = sum; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    if (lane == 0 && simdgroup == 0) { out[group] = partials[0] + partials[1]; }
#else
    if (lane == 0) {
        out[group] = partials[simdgroup];  // finding: race
    }
#endif
}
