// An index from memory is used without a check.
//
// dispatch: 1 x 32
// buffer 0: f32[16] iota
// buffer 1: u32[32] iota
// buffer 2: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *table [[buffer(0)]], device const uint *indices [[buffer(1)]],
              device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const uint index = indices[i];
#ifdef FIXED
    out[i] = index < 16 ? table[index] : 0.0f;
#else
    out[i] = table[index];  // finding: out-of-bounds-read
#endif
}
