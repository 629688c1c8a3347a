// A bitonic sort compares the padding up to a power of two, which nothing has set.
//
// dispatch: 1 x 64
// buffer 0: f32[50] iota
// buffer 1: f32[50] zeros
// buffer 2: u32 = 50
#include <metal_stdlib>
using namespace metal;

// candle, issue 2570: argsort with padded columns.
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float values[64];
#ifdef FIXED
    values[i] = i < n ? in[i] : INFINITY;
#else
    if (i < n) { values[i] = in[i]; }
#endif
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint size = 2; size <= 64; size *= 2) {
        for (uint step = size / 2; step > 0; step /= 2) {
            const uint other = i ^ step;
            const float a = values[i];  // finding: uninitialized-read
            const float b = values[other];  // finding: uninitialized-read
            threadgroup_barrier(mem_flags::mem_threadgroup);
            const bool is_up = (i & size) == 0;
            values[i] = (i < other) == is_up ? min(a, b) : max(a, b);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
    if (i < n) { out[i] = values[i]; }
}
