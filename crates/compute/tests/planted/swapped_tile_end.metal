// Of two tiles that are swapped, the second one is shorter.
//
// dispatch: 1 x 64
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
// buffer 2: u32 = 3
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &steps [[buffer(2)]],
              uint t [[thread_position_in_threadgroup]]) {
    threadgroup float first[64];
#ifdef FIXED
    threadgroup float second[64];
#else
    threadgroup float second[48];
#endif
    threadgroup float *from = first, *to = second;
    from[t] = x[t];
    for (uint i = 0; i < steps; i++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        to[t] = from[63 - t] + 1;  // finding: out-of-bounds-write, out-of-bounds-read
        threadgroup float *other = from;
        from = to;
        to = other;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = from[t];  // finding: out-of-bounds-read
}
