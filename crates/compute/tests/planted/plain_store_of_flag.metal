// A flag is stored plainly and loaded atomically.
//
// dispatch: 1 x 256
// buffer 0: u32[1] zeros
// buffer 1: u32[256] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device atomic_uint *n [[buffer(0)]], device uint *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    if (t == 0) atomic_store_explicit(n, 7, memory_order_relaxed);
#else
    if (t == 0) *(device uint *)n = 7;  // finding: race
#endif
    y[t] = atomic_load_explicit(n, memory_order_relaxed) >= 0;  // finding: race?
}
