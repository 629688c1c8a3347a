// The parts of a split sum are added without a barrier.
//
// dispatch: 1 x 128
// buffer 0: f32[512] ones
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]], uint part [[simdgroup_index_in_threadgroup]]) {
    threadgroup float parts[4][32];
    float sum = 0;
    for (uint j = 0; j < 4; ++j) { sum += in[(part * 4 + j) * 32 + lane]; }
    parts[part][lane] = sum;
#ifdef FIXED
    threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
    if (part == 0) {
        out[lane] = parts[0][lane] + parts[1][lane] + parts[2][lane] + parts[3][lane];  // finding: race, uninitialized-read?
    }
}
