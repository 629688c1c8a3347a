// Two simdgroups store matrices that overlap by a row.
//
// dispatch: 1 x 64
// buffer 0: f32[128] ones
// buffer 1: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *a [[buffer(0)]], device float *y [[buffer(1)]], uint sg [[simdgroup_index_in_threadgroup]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, a + sg * 64, 8);
    m = simdgroup_float8x8(float(sg + 1));
#ifdef FIXED
    simdgroup_store(m, y + sg * 64, 8);
#else
    simdgroup_store(m, y + sg * 56, 8);  // finding: race
#endif
}
