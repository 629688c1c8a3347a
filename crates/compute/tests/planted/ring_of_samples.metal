// The element before the first one of a ring buffer is not wrapped.
//
// dispatch: 1 x 1
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
// buffer 2: u32 = 64
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]]) {
    float ring[8] = {};
    for (uint i = 0; i < n; i++) {
        ring[i % 8] = x[i];
#ifdef FIXED
        y[i] = ring[i % 8] + ring[(i + 7) % 8];
#else
        y[i] = ring[i % 8] + ring[i % 8 - 1];  // finding: out-of-bounds-read
#endif
    }
}
