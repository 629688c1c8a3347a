// The lanes of a row add their parts with shuffles, and lanes beyond the width have returned.
//
// dispatch: 1 x 32
// buffer 0: f32[24] ones
// buffer 1: f32[1] zeros
// buffer 2: u32 = 24
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint lane [[thread_index_in_simdgroup]]) {
#ifndef FIXED
    if (lane >= n) { return; }
#endif
    float sum = lane < n ? in[lane] : 0.0f;
    for (ushort step = 16; step > 0; step /= 2) {
        sum += simd_shuffle_xor(sum, step);  // finding: inactive-lane
    }
    if (lane == 0) { out[0] = sum; }
}
