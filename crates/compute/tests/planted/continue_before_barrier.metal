// Threads without work continue with the next tile, and leave out the barrier behind it.
//
// dispatch: 1 x 64
// buffer 0: f32[150] iota
// buffer 1: f32[64] zeros
// buffer 2: u32 = 150
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
    float sum = 0;
    for (uint first = 0; first < 192; first += 64) {
#ifdef FIXED
        tile[i] = first + i < n ? in[first + i] : 0.0f;
#else
        if (first + i >= n) { continue; }
        tile[i] = in[first + i];
#endif
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finding: divergent-barrier
        sum += tile[i ^ 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finding: divergent-barrier?
    }
    out[i] = sum;
}
