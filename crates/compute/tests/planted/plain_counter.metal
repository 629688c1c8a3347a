// Threads count in threadgroup memory without atomics.
//
// dispatch: 1 x 64
// buffer 0: u32[64] iota
// buffer 1: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    threadgroup atomic_uint count;
    if (i == 0) { atomic_store_explicit(&count, 0, memory_order_relaxed); }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (in[i] % 2 == 0) { atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) { out[0] = atomic_load_explicit(&count, memory_order_relaxed); }
#else
    threadgroup uint count;
    if (i == 0) { count = 0; }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (in[i] % 2 == 0) {
        count += 1;  // finding: race
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) { out[0] = count; }
#endif
}
