// The last threadgroup adds what the others wrote, ordered by a relaxed counter alone.
//
// dispatch: 4 x 32
// buffer 0: f32[128] uninitialized
// buffer 1: f32[32] zeros
// buffer 2: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *p [[buffer(0)]], device float *y [[buffer(1)]], device atomic_uint *n [[buffer(2)]],
              uint g [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    atomic_fetch_add_explicit((device atomic_float *)y + t, float(g + t), memory_order_relaxed);
#else
    p[g * 32 + t] = g + t;
    threadgroup_barrier(mem_flags::mem_device);
    threadgroup uint last;
    if (t == 0) last = atomic_fetch_add_explicit(n, 1, memory_order_relaxed) == 3;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!last) return;
    float s = 0;
    for (uint i = 0; i < 4; i++) s += p[i * 32 + t];  // finding: race-between-threadgroups
    y[t] = s;
#endif
}
