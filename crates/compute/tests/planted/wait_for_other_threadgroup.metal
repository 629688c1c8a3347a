// A threadgroup waits for another one, which may never run at the same time.
//
// dispatch: 2 x 32
// steps: 100000
// buffer 0: u32[2] zeros
// buffer 1: u32[2] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint *flags [[buffer(0)]], device uint *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    if (i == 0) {
#ifndef FIXED
        if (group == 0) {
            while (atomic_load_explicit(&flags[1], memory_order_relaxed) == 0) {}  // finding: endless-loop
        }
#endif
        atomic_store_explicit(&flags[group], 1, memory_order_relaxed);
        out[group] = 1;
    }
}
