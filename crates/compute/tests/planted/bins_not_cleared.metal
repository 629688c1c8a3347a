// The bins of a threadgroup are counted up and were never set to 0.
//
// dispatch: 4 x 256
// buffer 0: u32[1000] iota
// buffer 1: u32[64] zeros
// buffer 2: u32 = 1000
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *x [[buffer(0)]], device atomic_uint *h [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint bins[64];
#ifdef FIXED
    if (t < 64) atomic_store_explicit(&bins[t], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (i < n) atomic_fetch_add_explicit(&bins[x[i] % 64], 1, memory_order_relaxed);  // finding: uninitialized-read
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t < 64) atomic_fetch_add_explicit(&h[t], atomic_load_explicit(&bins[t], memory_order_relaxed), memory_order_relaxed);
}
