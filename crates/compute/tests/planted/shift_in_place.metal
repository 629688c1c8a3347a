// Elements move to the left in place.
//
// dispatch: 4 x 256
// buffer 0: f32[1024] iota
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    x[i] = x[i] + 1;
#else
    if (i < 1023) x[i] = x[i + 1];  // finding: race, race-between-threadgroups
#endif
}
