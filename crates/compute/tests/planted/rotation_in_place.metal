// A thread writes its half of a pair that its neighbour reads.
//
// dispatch: 4 x 64
// buffer 0: f32[256] ones
#include <metal_stdlib>
using namespace metal;

// each thread writes one element and reads its partner, in place
kernel void k(device float *x [[buffer(0)]], uint row [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    const uint other = t ^ 1;
    const float a = x[row * 64 + t];
    const float b = x[row * 64 + other];
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_device);
#endif
    x[row * 64 + t] = t & 1 ? a * 0.5f + b * 0.5f : a * 0.5f - b * 0.5f;  // finding: race
}
