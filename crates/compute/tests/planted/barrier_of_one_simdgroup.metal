// Only the first simdgroup reaches the barrier.
//
// dispatch: 1 x 64
// buffer 0: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *out [[buffer(0)]], uint i [[thread_position_in_threadgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    out[i] = float(i);
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_device);
#else
    if (simdgroup == 0) {
        threadgroup_barrier(mem_flags::mem_device);  // finding: divergent-barrier
    }
#endif
}
