// The last simdgroup has fewer than 32 threads, and a shuffle reads the missing ones.
//
// dispatch: 1 x 40
// buffer 0: f32[40] iota
// buffer 1: f32[40] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    out[i] = simd_sum(in[i]);
#else
    out[i] = in[i] + simd_shuffle_xor(in[i], 8);  // finding: inactive-lane
#endif
}
