// A loop writes a fifth component of a vector.
//
// dispatch: 1 x 16
// buffer 0: f32[64] ones
// buffer 1: f32[64] zeros
// buffer 2: u32 = 5
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float4 *y [[buffer(1)]], constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    float4 v = 0;
#ifdef FIXED
    for (uint j = 0; j < min(n, 4u); j++) v[j] = x[i * 4 + j];
#else
    for (uint j = 0; j < n; j++) v[j] = x[min(i * 4 + j, 63u)];  // finding: out-of-bounds-write
#endif
    y[i] = v;
}
