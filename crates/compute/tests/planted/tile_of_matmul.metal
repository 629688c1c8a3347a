// A tile of the second matrix is loaded without a look at the end of K.
//
// dispatch: 2,2 x 16,16
// buffer 0: f32[740] ones
// buffer 1: f32[888] ones
// buffer 2: f32[480] zeros
// buffer 3: u32 = 20 24 37 0
#include <metal_stdlib>
using namespace metal;

constant constexpr uint T = 16;
kernel void k(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
              constant uint3 &s [[buffer(3)]], uint2 g [[thread_position_in_grid]], uint2 l [[thread_position_in_threadgroup]]) {
    threadgroup float ta[T][T], tb[T][T];
    float sum = 0;
    for (uint k0 = 0; k0 < s.z; k0 += T) {
#ifdef FIXED
        ta[l.y][l.x] = g.y < s.x && k0 + l.x < s.z ? a[g.y * s.z + k0 + l.x] : 0;
        tb[l.y][l.x] = k0 + l.y < s.z && g.x < s.y ? b[(k0 + l.y) * s.y + g.x] : 0;
#else
        ta[l.y][l.x] = g.y < s.x && k0 + l.x < s.z ? a[g.y * s.z + k0 + l.x] : 0;
        tb[l.y][l.x] = g.x < s.y ? b[(k0 + l.y) * s.y + g.x] : 0;  // finding: out-of-bounds-read
#endif
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint j = 0; j < T; j++) sum += ta[l.y][j] * tb[j][l.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (g.y < s.x && g.x < s.y) c[g.y * s.y + g.x] = sum;
}
