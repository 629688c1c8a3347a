// A ring buffer of no elements.
//
// dispatch: 1 x 32
// buffer 0: i32[32] iota
// buffer 1: i32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const int *sizes [[buffer(0)]], device int *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (sizes[i] == 0) { return; }
#endif
    out[i] = int(i + 100) % sizes[i];  // finding: division-by-zero
}
