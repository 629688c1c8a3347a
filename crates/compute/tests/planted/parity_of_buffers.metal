// The next tile goes into the buffer that is being read.
//
// dispatch: 1 x 64
// buffer 0: f32[512] ones
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup float buf[2][64];
    float s = 0;
    buf[0][t] = x[t];
    for (uint i = 0; i < 8; i++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
#ifdef FIXED
        if (i < 7) buf[(i + 1) & 1][t] = x[(i + 1) * 64 + t];
#else
        if (i < 7) buf[i & 1][t] = x[(i + 1) * 64 + t];  // finding: race
#endif
        s += buf[i & 1][63 - t];
    }
    y[t] = s;
}
