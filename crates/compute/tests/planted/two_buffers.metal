// Of two tiles, one is loaded while the other is used, and the load goes to the one that is used.
//
// dispatch: 1 x 64
// buffer 0: f32[256] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float tiles[2][64];
    tiles[0][i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint step = 0; step < 4; ++step) {
#ifdef FIXED
        const uint used = step % 2, loaded = (step + 1) % 2;
#else
        const uint used = step % 2, loaded = step % 2;
#endif
        if (step < 3) {
            tiles[loaded][i] = in[(step + 1) * 64 + i];  // finding: race
        }
        sum += tiles[used][63 - i];  // finding: race, uninitialized-read?
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sum;
}
