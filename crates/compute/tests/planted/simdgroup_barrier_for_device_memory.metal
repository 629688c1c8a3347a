// Lanes exchange values through device memory, and the barrier orders threadgroup memory.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *x [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
    x[i] = x[i] * 2 + i;
#ifdef FIXED
    simdgroup_barrier(mem_flags::mem_device);
#else
    simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
    out[i] = x[31 - i];  // finding: race
}
