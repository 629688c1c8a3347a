// A float3 makes a struct larger than the host assumed.
//
// dispatch: 1 x 16
// buffer 0: f32[40] zeros
// buffer 1: f32[16] zeros
#include <metal_stdlib>
using namespace metal;

// float3 makes the struct 32 bytes, host assumed 20: index past the end
#ifdef FIXED
struct P { packed_float3 v; float a; float b; };
#else
struct P { float3 v; float a; float b; };
#endif
kernel void k(device const P *a [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    if (i >= 8) return;
    y[i] = a[i].v.x + a[i].b;  // finding: out-of-bounds-read, out-of-bounds-read?
}
