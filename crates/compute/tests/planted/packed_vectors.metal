// The host packs vectors of three floats, and the kernel declares vectors that take the place of four.
//
// dispatch: 1 x 32
// buffer 0: f32[96] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
typedef packed_float3 Point;
#else
typedef float3 Point;
#endif

kernel void k(device const Point *points [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
    out[i] = points[i][0] + points[i][1] + points[i][2];  // finding: out-of-bounds-read
}
