// The counter of a loop is unsigned, and is compared with >= 0.
//
// dispatch: 1 x 1
// steps: 100000
// buffer 0: f32[16] iota
// buffer 1: f32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]]) {
    float sum = 0;
#ifdef FIXED
    for (int j = 15; j >= 0; --j) {
#else
    for (uint j = 15; j >= 0; --j) {  // finding: endless-loop?
#endif
        sum += in[j & 15];  // finding: endless-loop?
        out[0] = sum;
    }
    out[0] = sum;
}
