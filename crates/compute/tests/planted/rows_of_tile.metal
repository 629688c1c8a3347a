// Only M rows of the tile are loaded, and all of them are used.
//
// dispatch: 1 x 64
// buffer 0: f32[40] iota
// buffer 1: f32[8] zeros
// buffer 2: u32 = 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &M [[buffer(2)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tile[64];
    const uint row = i / 8;
    if (row < M) {
        tile[i] = in[i];
    }
#ifdef FIXED
    else { tile[i] = 0; }
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < 8) {
        float sum = 0;
        for (uint j = 0; j < 8; ++j) {
            sum += tile[j * 8 + i];  // finding: uninitialized-read
        }
        out[i] = sum;
    }
}
