// A dot product whose lanes step by 32 although K is no multiple of 32.
//
// dispatch: 1 x 32
// buffer 0: f32[40] iota
// buffer 1: f32[1] zeros
// buffer 2: u32 = 40
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *out [[buffer(1)]], constant uint &K [[buffer(2)]],
              uint lane [[thread_index_in_simdgroup]]) {
    float sum = 0;
    for (uint base = 0; base < K; base += 32) {
#ifdef FIXED
        if (base + lane >= K) { continue; }
#endif
        sum += x[base + lane];  // finding: out-of-bounds-read
    }
    sum = simd_sum(sum);
    if (lane == 0) { out[0] = sum; }
}
