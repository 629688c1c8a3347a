// A private array is indexed past its end.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float window[4] = {in[i], 1, 2, 3};
#ifdef FIXED
    const uint at = uint(in[i]) % 4;
#else
    const uint at = uint(in[i]) % 5;
#endif
    window[at] += 1;  // finding: out-of-bounds-read, out-of-bounds-write
    out[i] = window[0] + window[3];
}
