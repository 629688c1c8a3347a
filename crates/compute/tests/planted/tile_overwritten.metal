// The next tile is loaded while other threads still read the last one.
//
// dispatch: 1 x 64
// buffer 0: f32[256] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
    float sum = 0;
    for (uint step = 0; step < 4; ++step) {
        tile[i] = in[step * 64 + i];  // finding: race
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum += tile[63 - i];  // finding: race?
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    out[i] = sum;
}
