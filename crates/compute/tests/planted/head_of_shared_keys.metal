// Eight heads of queries share two of keys, and the head of the query selects the keys.
//
// dispatch: 8 x 32
// buffer 0: f32[256] ones
// buffer 1: f32[64] ones
// buffer 2: f32[8] zeros
// buffer 3: u32 = 4
#include <metal_stdlib>
using namespace metal;

// PyTorch, issue 174861: attention in two passes.
kernel void k(device const float *queries [[buffer(0)]], device const float *keys [[buffer(1)]],
              device float *out [[buffer(2)]], constant uint &sharing [[buffer(3)]],
              uint head [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
#ifdef FIXED
    const uint of_keys = head / sharing;
#else
    const uint of_keys = head % (2 * sharing);
#endif
    const float product = queries[head * 32 + lane] * keys[of_keys * 32 + lane];  // finding: out-of-bounds-read
    const float sum = simd_sum(product);
    if (lane == 0) { out[head] = sum; }
}
