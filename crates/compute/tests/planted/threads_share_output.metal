// Two threads write the same element.
//
// dispatch: 1 x 64
// buffer 0: f32[64] iota
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    out[i] = in[i];
#else
    out[i / 2] = in[i];  // finding: race
#endif
}
