// A counter is found by a byte offset that is no multiple of 4.
//
// dispatch: 1 x 4
// buffer 0: u32[4] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device uchar *counters [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device atomic_uint *c = (device atomic_uint *)(counters + i * 4);
#else
    device atomic_uint *c = (device atomic_uint *)(counters + i * 3);
#endif
    atomic_fetch_add_explicit(c, 1, memory_order_relaxed);  // finding: misaligned-read?, misaligned-write?
}
