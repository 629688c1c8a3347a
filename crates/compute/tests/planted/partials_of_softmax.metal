// There is room for the partial maxima of 8 simdgroups, and 16 write them.
//
// dispatch: 4 x 512
// buffer 0: f32[4000] ones
// buffer 1: f32[4000] zeros
// buffer 2: u32 = 1000
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
#define MOST 16
#else
#define MOST 8
#endif
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint row [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]],
              uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]], uint sgs [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[MOST];
    float m = -INFINITY;
    for (uint i = t; i < n; i += threads) m = max(m, x[row * n + i]);
    m = simd_max(m);
    if (lane == 0) partial[sg] = m;  // finding: out-of-bounds-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    m = -INFINITY;
    for (uint i = 0; i < min(sgs, uint(MOST)); i++) m = max(m, partial[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float s = 0;
    for (uint i = t; i < n; i += threads) s += exp(x[row * n + i] - m);
    s = simd_sum(s);
    if (lane == 0 && sg < MOST) partial[sg] = s;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    s = 0;
    for (uint i = 0; i < min(sgs, uint(MOST)); i++) s += partial[i];
    for (uint i = t; i < n; i += threads) y[row * n + i] = exp(x[row * n + i] - m) / s;
}
