// Attention reads the cache up to its capacity, and only the keys of earlier tokens were written.
//
// dispatch: 1 x 32
// buffer 0: f32[1024] uninitialized
// buffer 1: f32[32] zeros
// buffer 2: u32 = 10
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *keys [[buffer(0)]], device float *out [[buffer(1)]], constant uint &tokens [[buffer(2)]],
              uint lane [[thread_index_in_simdgroup]]) {
    for (uint token = 0; token < tokens; ++token) { keys[token * 32 + lane] = float(token); }
#ifdef FIXED
    const uint count = tokens;
#else
    const uint count = 32;
#endif
    float sum = 0;
    for (uint token = 0; token < count; ++token) {
        sum += keys[token * 32 + lane];  // finding: uninitialized-read
    }
    out[lane] = sum;
}
