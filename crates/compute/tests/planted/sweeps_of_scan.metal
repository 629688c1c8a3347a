// The steps of a scan's second sweep are not separated.
//
// dispatch: 1 x 128
// buffer 0: u32[256] iota
// buffer 1: u32[256] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup uint s[256];
    s[2 * t] = x[2 * t]; s[2 * t + 1] = x[2 * t + 1];
    uint offset = 1;
    for (uint d = 128; d > 0; d >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < d) {
            uint i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            s[j] += s[i];
        }
        offset *= 2;
    }
    if (t == 0) s[255] = 0;
    for (uint d = 1; d < 256; d *= 2) {
        offset >>= 1;
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#else
        if (d == 1) threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        if (t < d) {
            uint i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            uint v = s[i];
            s[i] = s[j];  // finding: race
            s[j] += v;  // finding: race?
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[2 * t] = s[2 * t]; y[2 * t + 1] = s[2 * t + 1];
}
