// A table in constant memory is indexed with the length of another one.
//
// dispatch: 1 x 16
// buffer 0: f32[8] iota
// buffer 1: f32[16] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(constant float *table [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = table[i % 8];
#else
    out[i] = table[i];  // finding: out-of-bounds-read
#endif
}
