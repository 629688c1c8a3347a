// The kernel indexes from the start of the buffer, and the host binds it with an offset.
//
// dispatch: 1 x 32
// buffer 0: f32[32] zeros from 64
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    if (i >= 16) { return; }
#endif
    x[i] = 1;  // finding: out-of-bounds-write
}
