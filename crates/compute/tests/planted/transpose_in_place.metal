// Both threads of a pair of elements swap them.
//
// dispatch: 2,2 x 16,16
// buffer 0: f32[1024] iota
#include <metal_stdlib>
using namespace metal;

// in-place transpose: groups swap blocks, both of a pair write
kernel void k(device float *x [[buffer(0)]], uint2 g [[threadgroup_position_in_grid]], uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    if (p.x <= p.y) return;
#else
    if (p.x == p.y) return;
#endif
    float a = x[p.y * 32 + p.x], b = x[p.x * 32 + p.y];
    x[p.y * 32 + p.x] = b;  // finding: race, race-between-threadgroups
    x[p.x * 32 + p.y] = a;  // finding: race, race-between-threadgroups
}
