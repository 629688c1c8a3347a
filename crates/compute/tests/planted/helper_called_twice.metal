// A function reduces in memory that its caller passes, and begins its second call while threads still read the first result.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

// AdaptiveCpp, pull request 2074: the scratch memory of reductions.
float reduce(float value, threadgroup float *scratch, uint i) {
    scratch[i] = value;  // finding: race
    for (uint step = 32; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < step) { scratch[i] += scratch[i + step]; }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float sum = scratch[0];  // finding: race?
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    return sum;
}

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
    threadgroup float scratch[64];
    const float mean = reduce(in[i], scratch, i) / 64;
    const float distance = in[i] - mean;
    out[i] = distance * rsqrt(reduce(distance * distance, scratch, i) / 64 + 1e-5f);
}
