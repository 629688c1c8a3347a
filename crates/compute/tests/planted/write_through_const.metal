// A cast removes const, and the input is written.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = in[i] * 2;
#else
    device float *scratch = (device float *)in;
    scratch[i] = in[i] * 2;  // finding: read-only-write
    out[i] = scratch[i];
#endif
}
