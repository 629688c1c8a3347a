// Threads leave the loop with the barrier after different numbers of steps.
//
// dispatch: 1 x 64
// buffer 0: u32[64] iota
// buffer 1: u32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    uint sum = 0;
#ifdef FIXED
    for (uint j = 0; j < 4; ++j) {
#else
    for (uint j = 0; j < in[i] % 4 + 1; ++j) {
#endif
        sum += in[j];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finding: divergent-barrier
    }
    out[i] = sum;
}
