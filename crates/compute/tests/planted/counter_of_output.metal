// The counter that the threads raise is in a buffer that nothing has cleared.
//
// dispatch: 2 x 32
// buffer 0: u32[64] iota
// buffer 1: u32[2] uninitialized
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device atomic_uint *counts [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
#ifdef FIXED
    if (i == 0) { atomic_store_explicit(&counts[group], 0, memory_order_relaxed); }
    threadgroup_barrier(mem_flags::mem_device);
#endif
    if (in[i] % 2 == 0) {
        atomic_fetch_add_explicit(&counts[group], 1, memory_order_relaxed);  // finding: uninitialized-read
    }
}
