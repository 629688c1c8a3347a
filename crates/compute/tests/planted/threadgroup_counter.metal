// A counter in threadgroup memory is not set to zero first.
//
// dispatch: 1 x 32
// buffer 0: u32[32] iota
// buffer 1: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup atomic_uint count;
#ifdef FIXED
    if (i == 0) { atomic_store_explicit(&count, 0, memory_order_relaxed); }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (in[i] % 3 == 0) {
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);  // finding: uninitialized-read
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) { out[0] = atomic_load_explicit(&count, memory_order_relaxed); }
}
