// The last steps of a reduction rely on lock step.
//
// dispatch: 1 x 256
// buffer 0: f32[256] ones
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup float s[256];
    s[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint d = 128; d > 16; d /= 2) {
        if (t < d) s[t] += s[t + d];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    // CUDA's old warp-synchronous tail
    if (t < 32) {
        for (uint d = 16; d > 0; d /= 2) {
#ifdef FIXED
            float v = t < d ? s[t + d] : 0;
            simdgroup_barrier(mem_flags::mem_threadgroup);
            if (t < d) s[t] += v;
            simdgroup_barrier(mem_flags::mem_threadgroup);
#else
            if (t < d) s[t] += s[t + d];  // finding: race
#endif
        }
    }
    if (t == 0) y[0] = s[0];
}
