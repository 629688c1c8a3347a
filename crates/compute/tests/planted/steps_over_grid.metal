// Each step needs the values of the last one, and the barrier between them orders one threadgroup only.
//
// dispatch: 2 x 32
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

// PyTorch, issue 173972: Householder products.
kernel void k(device float *a [[buffer(0)]], device float *b [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint width = 32;
#else
    const uint width = 64;
#endif
    const uint left = i / width * width + (i + width - 1) % width;
    b[i] = a[left];
    threadgroup_barrier(mem_flags::mem_device);
    a[i] = b[left];  // finding: race-between-threadgroups
}
