// The shift is a difference that becomes negative.
//
// dispatch: 1 x 32
// buffer 0: u32[32] zeros
// buffer 1: i32[32] iota
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *out [[buffer(0)]], device const int *exponents [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const int shift = max(exponents[i] - 4, 0);
#else
    const int shift = exponents[i] - 4;
#endif
    out[i] = 0xffff0000u >> shift;  // finding: shift-out-of-range
}
