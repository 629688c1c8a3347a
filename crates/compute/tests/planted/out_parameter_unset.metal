// A function leaves its output parameter alone if nothing matches.
//
// dispatch: 1 x 32
// buffer 0: u32[32] iota
// buffer 1: u32[32] zeros
#include <metal_stdlib>
using namespace metal;

static bool find(device const uint *x, uint what, thread uint &at) {
    for (uint j = 0; j < 16; j++) { if (x[j] == what) { at = j; return true; } }
    return false;
}
kernel void k(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint at;
#ifdef FIXED
    y[i] = find(x, i, at) ? at : 0;
#else
    find(x, i, at);
    y[i] = at;  // finding: uninitialized-read
#endif
}
