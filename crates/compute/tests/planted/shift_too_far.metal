// A 32-bit number is shifted by the bits of a 64-bit one.
//
// dispatch: 1 x 64
// buffer 0: u32[64] zeros
// buffer 1: u32[64] iota
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *out [[buffer(0)]], device const uint *bits [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = 1u << (bits[i] & 31);
#else
    out[i] = 1u << bits[i];  // finding: shift-out-of-range
#endif
}
