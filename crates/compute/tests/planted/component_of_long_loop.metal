// A component is set in a branch that some threads do not take.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float2 range;
    range.x = in[i];
#ifdef FIXED
    range.y = 0;
#endif
    if (in[i] < 16) {
        range.y = in[i] + 1;
    }
    out[i] = range.x - range.y;  // finding: uninitialized-read
}
