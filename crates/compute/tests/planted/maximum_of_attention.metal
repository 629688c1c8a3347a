// A lane replaces the maximum of a row that the others of its simdgroup have just read.
//
// dispatch: 1 x 128
// buffer 0: f32[512] ones
// buffer 1: f32[8192] ones
// buffer 2: f32[256] zeros
#include <metal_stdlib>
using namespace metal;

// four rows, one simdgroup a row computes max; then all threads rescale
kernel void k(device const float *s [[buffer(0)]], device const float *v [[buffer(1)]], device float *o [[buffer(2)]],
              uint t [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float m[4], l[4], p[4][32];
    float acc[2] = {0, 0};
    if (t < 4) { m[t] = -INFINITY; l[t] = 0; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k0 = 0; k0 < 128; k0 += 32) {
        const float x = s[sg * 128 + k0 + lane];
        const float before = m[sg];
        const float now = max(before, simd_max(x));
        p[sg][lane] = exp(x - now);
        const float sum = simd_sum(exp(x - now));
#ifdef FIXED
        simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
        if (lane == 0) { m[sg] = now; l[sg] = l[sg] * exp(before - now) + sum; }  // finding: race
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint e = 0; e < 2; e++) {
            acc[e] *= exp(before - now);
            for (uint j = 0; j < 32; j++) acc[e] += p[sg][j] * v[(k0 + j) * 64 + lane + e * 32];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint e = 0; e < 2; e++) o[sg * 64 + lane + e * 32] = acc[e] / l[sg];
}
