// The kernel is written for 64 threads, and the host dispatches 128.
//
// dispatch: 1 x 128
// buffer 0: f32[128] iota
// buffer 1: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
#define SIZE 128
#else
#define SIZE 64
#endif
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[SIZE];
    tile[i] = in[i];  // finding: out-of-bounds-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[SIZE - 1 - i % SIZE];
}
