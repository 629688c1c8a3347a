// A threadgroup reads the sums of the threadgroups before it in the same dispatch.
//
// dispatch: 4 x 256
// buffer 0: f32[1024] iota
// buffer 1: f32[1024] zeros
// buffer 2: f32[4] uninitialized
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], device float *sums [[buffer(2)]],
              uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float p[8];
    float v = simd_prefix_inclusive_sum(x[g * 256 + t]);
    if (lane == 31) p[sg] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float base = 0;
    for (uint i = 0; i < sg; i++) base += p[i];
    if (t == 255) sums[g] = base + v;
#ifdef FIXED
    y[g * 256 + t] = base + v;
#else
    float before = 0;
    for (uint i = 0; i < g; i++) before += sums[i];  // finding: race-between-threadgroups
    y[g * 256 + t] = before + base + v;
#endif
}
