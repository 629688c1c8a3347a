// The parts of a split product are added to the output without atomics.
//
// dispatch: 1,4 x 32
// buffer 0: f32[128] ones
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint2 group [[threadgroup_position_in_grid]], uint i [[thread_index_in_threadgroup]]) {
    const float part = in[group.y * 32 + i];
#ifdef FIXED
    atomic_fetch_add_explicit((device atomic_float *)&out[i], part, memory_order_relaxed);
#else
    out[i] += part;  // finding: race-between-threadgroups
#endif
}
