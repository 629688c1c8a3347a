// The step of a loop is a number that the host did not set.
//
// dispatch: 1 x 32
// steps: 100000
// buffer 0: f32[64] iota
// buffer 1: f32[32] zeros
// buffer 2: u32 = 0
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &stride [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint step = max(stride, 32u);
#else
    const uint step = stride;
#endif
    float sum = 0;
    for (uint j = i; j < 64; j += step) {  // finding: endless-loop?
        sum += in[j];  // finding: endless-loop?
        out[i] = sum;
    }
}
