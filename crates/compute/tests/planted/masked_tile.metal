// A tile of keys is masked: its maximum is minus infinity, and so is the one before.
//
// dispatch: 1 x 32
// checks: nan
// buffer 0: f32[64] ones
// buffer 1: f32[32] zeros
// buffer 2: u32 = 40
#include <metal_stdlib>
using namespace metal;

// llama.cpp, pull request 7434: infinities of a mask in attention.
kernel void k(device const float *scores [[buffer(0)]], device float *out [[buffer(1)]],
              constant uint &first [[buffer(2)]], uint lane [[thread_index_in_simdgroup]]) {
    float largest = -INFINITY, sum = 0;
    for (uint tile = 0; tile < 64; tile += 32) {
        const uint key = tile + lane;
        const float score = key >= first ? scores[key] : -INFINITY;
        const float next = max(largest, simd_max(score));
#ifdef FIXED
        if (next == -INFINITY) { continue; }
#endif
        const float correction = exp(largest - next);  // finding: nan
        sum = sum * correction + simd_sum(exp(score - next));  // finding: nan?
        largest = next;
    }
    out[lane] = sum;
}
