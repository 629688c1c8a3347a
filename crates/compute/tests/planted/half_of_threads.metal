// A reduction assumes twice as many threads as there are.
//
// dispatch: 2 x 64
// buffer 0: f32[128] ones
// buffer 1: f32[2] zeros
#include <metal_stdlib>
using namespace metal;

// assumes 128 threads
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup float s[128];
    s[t] = x[g * 64 + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    for (uint d = n / 2; d > 0; d /= 2) {
#else
    for (uint d = 64; d > 0; d /= 2) {
#endif
        if (t < d) s[t] += s[t + d];  // finding: uninitialized-read
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) y[g] = s[0];
}
