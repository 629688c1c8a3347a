// The height is no multiple of the tile.
//
// dispatch: 2,2 x 8,8
// buffer 0: f32[192] zeros
#include <metal_stdlib>
using namespace metal;

constant uint WIDTH = 16;
constant uint HEIGHT = 12;
kernel void k(device float *image [[buffer(0)]], uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    if (p.x >= WIDTH || p.y >= HEIGHT) { return; }
#endif
    image[p.y * WIDTH + p.x] = float(p.x + HEIGHT);  // finding: out-of-bounds-write
}
