// The halo of the tile is read and never loaded.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[34];
    tile[i + 1] = in[i];
#ifdef FIXED
    if (i == 0) { tile[0] = 0; tile[33] = 0; }
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = tile[i] + tile[i + 2];  // finding: uninitialized-read
}
