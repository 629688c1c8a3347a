// The index of a private array comes from memory.
//
// dispatch: 1 x 32
// buffer 0: u32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float squares[16];
    for (uint j = 0; j < 16; ++j) { squares[j] = float(j * j) + float(in[j]); }
#ifdef FIXED
    out[i] = squares[in[i] & 15];
#else
    out[i] = squares[in[i]];  // finding: out-of-bounds-read
#endif
}
