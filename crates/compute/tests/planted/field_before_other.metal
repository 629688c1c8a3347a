// An array in a struct is read beyond its end, which is the next field.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

struct S { float a[4]; float b[4]; };
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_threadgroup]]) {
    S s;
    for (uint j = 0; j < 4; j++) { s.a[j] = x[j]; s.b[j] = 0; }
#ifdef FIXED
    y[i] = s.a[i % 4];
#else
    y[i] = s.a[i % 5];  // finding: out-of-bounds-read
#endif
}
