// A matrix of three columns is taken for packed memory: its columns are padded.
//
// dispatch: 1 x 4
// buffer 0: f32[36] iota
// buffer 1: f32[4] zeros
#include <metal_stdlib>
using namespace metal;

struct Packed { packed_float3 columns[3]; };
kernel void k(device const float *data [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device const Packed *m = (device const Packed *)data;
    out[i] = m[i].columns[2][1];
#else
    device const float3x3 *m = (device const float3x3 *)data;
    out[i] = m[i][2][1];  // finding: out-of-bounds-read
#endif
}
