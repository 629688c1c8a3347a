// Threads exchange values through device memory without a barrier.
//
// dispatch: 1 x 64
// buffer 0: f32[64] zeros
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *scratch [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    scratch[i] = float(i);
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_device);
#endif
    out[i] = scratch[63 - i];  // finding: race
}
