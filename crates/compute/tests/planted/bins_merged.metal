// Threadgroups add their bins to the result without atomic functions.
//
// dispatch: 4 x 256
// buffer 0: u32[1024] iota
// buffer 1: u32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *x [[buffer(0)]], device uint *h [[buffer(1)]],
              uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint bins[64];
    if (t < 64) atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&bins[x[i] % 64], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    if (t < 64) atomic_fetch_add_explicit((device atomic_uint *)h + t, atomic_load_explicit(&bins[t], memory_order_relaxed), memory_order_relaxed);
#else
    if (t < 64) h[t] += atomic_load_explicit(&bins[t], memory_order_relaxed);  // finding: race-between-threadgroups
#endif
}
