// The edge of a tile is not loaded, and its other side is written by a condition on the sum.
//
// dispatch: 2,2 x 32,8
// buffer 0: f32[960] ones
// buffer 1: f32[960] zeros
// buffer 2: u32 = 40 24
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint2 &s [[buffer(2)]],
              uint2 g [[threadgroup_position_in_grid]], uint2 t [[thread_position_in_threadgroup]]) {
    threadgroup float tile[32][33];
    for (uint r = t.y; r < 32; r += 8) {
        uint row = g.y * 32 + r, col = g.x * 32 + t.x;
        if (row < s.x && col < s.y) tile[r][t.x] = x[row * s.y + col];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint r = t.y; r < 32; r += 8) {
        uint row = g.x * 32 + r, col = g.y * 32 + t.x;
#ifdef FIXED
        if (row < s.y && col < s.x) y[row * s.x + col] = tile[t.x][r];
#else
        if (row * s.x + col < s.x * s.y) y[row * s.x + col] = tile[t.x][r];  // finding: race-between-threadgroups?, uninitialized-read
#endif
    }
}
