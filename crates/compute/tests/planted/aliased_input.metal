// Input and output are the same buffer, and a neighbour is read.
//
// dispatch: 4 x 32
// buffer 0: f32[160] iota
// buffer 1: same as 0 unless fixed
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    out[i] = in[i + 1] * 0.5f;  // finding: race, race-between-threadgroups
}
