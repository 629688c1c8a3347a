// A matrix of 8 by 8 is loaded where 4 rows are left.
//
// dispatch: 3,2 x 32
// buffer 0: f32[320] ones
// buffer 1: f32[384] zeros
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *a [[buffer(0)]], device float *y [[buffer(1)]], uint2 g [[threadgroup_position_in_grid]]) {
    simdgroup_float8x8 m;
#ifdef FIXED
    if (g.x * 8 + 8 > 20) return;
#endif
    simdgroup_load(m, a + g.x * 8 * 16 + g.y * 8, 16);  // finding: out-of-bounds-read
    simdgroup_store(m, y + g.x * 8 * 16 + g.y * 8, 16);
}
