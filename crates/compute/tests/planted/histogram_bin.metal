// A value outside of the range of the histogram.
//
// dispatch: 2 x 32
// buffer 0: u32[64] iota
// buffer 1: u32[48] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *values [[buffer(0)]], device atomic_uint *bins [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint bin = min(values[i], 47u);
#else
    const uint bin = values[i];
#endif
    atomic_fetch_add_explicit(&bins[bin], 1, memory_order_relaxed);  // finding: out-of-bounds-write
}
