// The barrier is after the loop of a tree reduction, and not in it.
//
// dispatch: 1 x 128
// buffer 0: f32[128] ones
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float sums[128];
    sums[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = 64; half_size > 0; half_size /= 2) {
        if (i < half_size) {
            sums[i] += sums[i + half_size];  // finding: race
        }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) { out[0] = sums[0]; }
}
