// The host passes an offset in bytes, and the kernel adds it to a pointer to floats.
//
// dispatch: 1 x 16
// buffer 0: f32[32] iota
// buffer 1: f32[16] zeros
// buffer 2: u32 = 64
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *out [[buffer(1)]], constant uint &bytes [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint offset = bytes / 4;
#else
    const uint offset = bytes;
#endif
    out[i] = x[offset + i];  // finding: out-of-bounds-read
}
