// The shorter one of two threadgroup arguments is filled to the length of the other.
//
// dispatch: 1 x 64
// buffer 0: f32[64] zeros
// threadgroup 0: 128
// threadgroup 1: 256
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *y [[buffer(0)]], threadgroup float *a [[threadgroup(0)]], threadgroup float *b [[threadgroup(1)]], uint t [[thread_position_in_threadgroup]]) {
    b[t] = t;
#ifdef FIXED
    if (t < 32) a[t] = t;
#else
    a[t] = t;  // finding: out-of-bounds-write
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = b[63 - t] + a[t % 32];
}
