// Threads beyond the end return before the barrier.
//
// dispatch: 1 x 64
// buffer 0: f32[40] iota
// buffer 1: f32[40] zeros
// buffer 2: u32 = 40
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
#ifdef FIXED
    tile[i] = i < n ? in[i] : 0.0f;
#else
    if (i >= n) { return; }
    tile[i] = in[i];
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);  // finding: divergent-barrier
    if (i < n) { out[i] = tile[n - 1 - i]; }
}
