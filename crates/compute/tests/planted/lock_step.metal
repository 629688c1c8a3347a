// The last steps of a reduction rely on the lock step of a simdgroup.
//
// dispatch: 1 x 32
// buffer 0: f32[32] ones
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float sums[32];
    sums[i] = in[i];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = 16; half_size > 0; half_size /= 2) {
        if (i < half_size) {
            sums[i] += sums[i + half_size];  // finding: race
        }
#ifdef FIXED
        simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    if (i == 0) { out[0] = sums[0]; }
}
