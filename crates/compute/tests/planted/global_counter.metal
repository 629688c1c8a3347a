// Threadgroups count in device memory without atomics.
//
// dispatch: 4 x 32
// buffer 0: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
kernel void k(device atomic_uint *count [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    if (i == 0) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }
}
#else
kernel void k(device uint *count [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {
    if (i == 0) {
        *count += 1;  // finding: race-between-threadgroups
    }
}
#endif
