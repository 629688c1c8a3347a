// A simdgroup barrier stands where a threadgroup barrier is needed.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
    tile[i] = in[i];
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#else
    simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
    out[i] = tile[63 - i];  // finding: race, uninitialized-read?
}
