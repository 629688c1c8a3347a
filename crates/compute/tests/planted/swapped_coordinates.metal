// Rows and columns are swapped in the index of the output.
//
// dispatch: 2,1 x 32,4
// buffer 0: f32[256] iota
// buffer 1: f32[256] zeros
#include <metal_stdlib>
using namespace metal;

constant uint WIDTH = 64;
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    out[p.y * WIDTH + p.x] = in[p.y * WIDTH + p.x];
#else
    out[p.x * WIDTH + p.y] = in[p.y * WIDTH + p.x];  // finding: out-of-bounds-write
#endif
}
