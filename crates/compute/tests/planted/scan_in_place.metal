// A scan adds in place: a thread reads what its neighbour already changed.
//
// dispatch: 1 x 64
// buffer 0: u32[64] ones
// buffer 1: u32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup uint sums[64];
    sums[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 1; step < 64; step *= 2) {
#ifdef FIXED
        const uint before = i >= step ? sums[i - step] : 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sums[i] += before;
#else
        if (i >= step) {
            sums[i] += sums[i - step];  // finding: race
        }
#endif
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sums[i];
}
