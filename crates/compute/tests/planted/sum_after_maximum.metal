// Two reductions share their scratch memory, with no barrier between them.
//
// dispatch: 4 x 256
// buffer 0: f32[4000] ones
// buffer 1: f32[4000] zeros
// buffer 2: u32 = 1000
#include <metal_stdlib>
using namespace metal;

float block_max(float v, threadgroup float *s, uint lane, uint sg, uint sgs) {
    v = simd_max(v);
    if (lane == 0) s[sg] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v = lane < sgs ? s[lane] : -INFINITY;
    return simd_max(v);
}
float block_sum(float v, threadgroup float *s, uint lane, uint sg, uint sgs) {
    v = simd_sum(v);
    if (lane == 0) s[sg] = v;  // finding: race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v = lane < sgs ? s[lane] : 0;
    return simd_sum(v);
}
kernel void k(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint row [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]],
              uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]], uint sgs [[simdgroups_per_threadgroup]]) {
    threadgroup float partial[32];
    float m = -INFINITY;
    for (uint i = t; i < n; i += threads) m = max(m, x[row * n + i]);
    m = block_max(m, partial, lane, sg, sgs);
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    float s = 0;
    for (uint i = t; i < n; i += threads) s += exp(x[row * n + i] - m);
    s = block_sum(s, partial, lane, sg, sgs);
    for (uint i = t; i < n; i += threads) y[row * n + i] = exp(x[row * n + i] - m) / s;
}
