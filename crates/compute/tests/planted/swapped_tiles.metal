// A scan swaps the pointers to its two tiles, with one barrier for a step that needs none between two swaps.
//
// dispatch: 1 x 128
// buffer 0: f32[128] ones
// buffer 1: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float first[128], second[128];
    threadgroup float *from = first, *to = second;
    from[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint by = 1; by < 128; by *= 2) {
        to[t] = from[t] + (t >= by ? from[t - by] : 0);  // finding: race
        threadgroup float *other = from;
        from = to;
        to = other;
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    }
    y[t] = from[t];
}
