// New keys are written beyond the end of a cache that is a ring.
//
// dispatch: 1,1 x 8,3
// buffer 0: f16[128] zeros
// buffer 1: f16[24] ones
// buffer 2: u32 = 14
#include <metal_stdlib>
using namespace metal;

kernel void k(device half *kc [[buffer(0)]], device const half *kn [[buffer(1)]], constant uint &pos [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
#ifdef FIXED
    kc[(pos + p.y) % 16 * 8 + p.x] = kn[p.y * 8 + p.x];
#else
    kc[(pos + p.y) * 8 + p.x] = kn[p.y * 8 + p.x];  // finding: out-of-bounds-write
#endif
}
