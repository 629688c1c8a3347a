// Threads take places of the output from a plain counter.
//
// dispatch: 1 x 256
// buffer 0: u32[256] iota
// buffer 1: u32[256] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    threadgroup atomic_uint n;
    if (t == 0) atomic_store_explicit(&n, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (x[t] % 3 == 0) y[atomic_fetch_add_explicit(&n, 1, memory_order_relaxed)] = x[t];
#else
    threadgroup uint n;
    if (t == 0) n = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (x[t] % 3 == 0) y[n++] = x[t];  // finding: race
#endif
}
