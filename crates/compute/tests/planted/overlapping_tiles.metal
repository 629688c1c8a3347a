// The output tiles of neighbouring threadgroups overlap.
//
// dispatch: 4 x 32
// buffer 0: f32[128] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
constant uint STEP = 32;
#else
constant uint STEP = 31;
#endif
kernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
              uint group [[threadgroup_position_in_grid]]) {
    out[group * STEP + i] = float(group);  // finding: race-between-threadgroups
}
