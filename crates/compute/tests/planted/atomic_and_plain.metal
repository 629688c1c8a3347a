// A counter is changed atomically and read as a plain number.
//
// dispatch: 4 x 32
// buffer 0: u32[1] zeros
// buffer 1: u32[4] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint *count [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    if (i == 0) {
        const uint ticket = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
        out[group] = ticket;
    }
#ifndef FIXED
    if (i == 1) {
        *(device uint *)count = 0;  // finding: race-between-threadgroups, race
    }
#endif
}
