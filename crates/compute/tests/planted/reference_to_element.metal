// A reference is bound to an element that the buffer does not have.
//
// dispatch: 1 x 8
// buffer 0: f32[8] zeros
#include <metal_stdlib>
using namespace metal;

static void bump(device float &v) {
    v += 1;  // finding: out-of-bounds-read, out-of-bounds-write?
}
kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    bump(x[i]);
#else
    bump(x[i + 1]);
#endif
}
