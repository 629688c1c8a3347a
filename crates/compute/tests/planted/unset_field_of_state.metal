// A constructor leaves out one field, which a method reads.
//
// dispatch: 1 x 8
// buffer 0: f32[64] ones
// buffer 1: f32[8] zeros
#include <metal_stdlib>
using namespace metal;

struct Online {
    float m; float l;
#ifdef FIXED
    Online() : m(-INFINITY), l(0) {}
#else
    Online() : m(-INFINITY) {}
#endif
    void add(float v) { const float n = max(m, v); l = l * exp(m - n) + exp(v - n); m = n; }  // finding: uninitialized-read
};
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint t [[thread_position_in_grid]]) {
    Online o;
    for (uint i = 0; i < 8; i++) o.add(x[t * 8 + i]);
    y[t] = o.l;
}
