// The negation of the lowest integer does not exist.
//
// dispatch: 1 x 4
// buffer 0: i32[4] lowest
// buffer 1: i32[4] zeros
// buffer 2: i32 = -1
#include <metal_stdlib>
using namespace metal;

kernel void k(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int &sign [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = in[i] / max(sign, 1);
#else
    out[i] = in[i] / sign;  // finding: division-overflow
#endif
}
