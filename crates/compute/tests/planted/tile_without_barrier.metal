// No barrier between the write and the read of the tile.
//
// dispatch: 1 x 128
// buffer 0: f32[128] iota
// buffer 1: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[128];
    tile[i] = in[i];
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    out[i] = tile[127 - i];  // finding: race, uninitialized-read?
}
