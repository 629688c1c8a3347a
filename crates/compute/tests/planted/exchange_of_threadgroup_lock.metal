// A lock in threadgroup memory is tried before it is set.
//
// dispatch: 1 x 32
// buffer 0: u32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *y [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint tickets;
#ifdef FIXED
    if (i == 0) atomic_store_explicit(&tickets, 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    y[i] = atomic_fetch_add_explicit(&tickets, 1, memory_order_relaxed);  // finding: uninitialized-read
}
