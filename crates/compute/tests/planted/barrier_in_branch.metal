// The barrier is in a branch that some threads take.
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
    if (in[i] < 20) { out[i] = tile[i ^ 1]; }
#else
    if (in[i] < 20) {
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finding: divergent-barrier
        out[i] = tile[i ^ 1];  // finding: race?
    }
#endif
}
