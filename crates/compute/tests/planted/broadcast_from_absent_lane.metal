// A value is broadcast from a lane that returned.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]]) {
    const float value = in[lane];
#ifndef FIXED
    if (value == 0) { return; }
#endif
    out[lane] = simd_broadcast(value, 0);  // finding: inactive-lane
}
