// A threadgroup reads the result of another one in the same dispatch.
//
// dispatch: 4 x 32
// buffer 0: f32[4] zeros
// buffer 1: f32[4] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *sums [[buffer(0)]], device float *out [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    if (i == 0) {
        sums[group] = float(group);
#ifdef FIXED
        out[group] = sums[group];
#else
        out[group] = sums[group ^ 1];  // finding: race-between-threadgroups
#endif
    }
}
