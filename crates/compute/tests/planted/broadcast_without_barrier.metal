// One thread writes a value that all threads read.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float scale;
    if (i == 63) { scale = in[63]; }
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    out[i] = in[i] * scale;  // finding: race, uninitialized-read?
}
