// An atomic function changes an argument that the kernel declares const.
//
// dispatch: 1 x 32
// buffer 0: u32[32] iota
// buffer 1: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device atomic_uint *out [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    atomic_fetch_add_explicit(out, in[i], memory_order_relaxed);
#else
    atomic_fetch_add_explicit((device atomic_uint *)in, i, memory_order_relaxed);  // finding: read-only-write
    atomic_fetch_add_explicit(out, in[i], memory_order_relaxed);  // finding: race?
#endif
}
