// There are more simdgroups than places for their sums.
//
// dispatch: 1 x 128
// buffer 0: f32[128] ones
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
#define SIMDGROUPS 4
#else
#define SIMDGROUPS 2
#endif
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float partials[SIMDGROUPS];
    const float sum = simd_sum(in[i]);
    if (lane == 0) {
        partials[simdgroup] = sum;  // finding: out-of-bounds-write
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) {
        float all = 0;
        for (uint j = 0; j < SIMDGROUPS; ++j) { all += partials[j]; }
        out[0] = all;
    }
}
