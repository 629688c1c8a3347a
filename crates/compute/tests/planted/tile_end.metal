// A neighbour is read beyond the last element of the tile.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
    tile[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
    out[i] = tile[min(i + 1, 63u)];
#else
    out[i] = tile[i + 1];  // finding: out-of-bounds-read
#endif
}
