// A split product rounds the parts of K up to whole groups, and the last part reads scales beyond its row.
//
// dispatch: 3 x 32
// buffer 0: f32[320] ones
// buffer 1: f32[5] ones
// buffer 2: f32[96] zeros
// buffer 3: u32 = 5
#include <metal_stdlib>
using namespace metal;

// MLX, affine_qmm_t_splitk: loads of scales past the end, which shader validation of macOS reports.
kernel void k(device const float *weights [[buffer(0)]], device const float *scales [[buffer(1)]],
              device float *out [[buffer(2)]], constant uint &groups [[buffer(3)]],
              uint part [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    const uint first = part * 2;
#ifdef FIXED
    const uint last = min(first + 2, groups);
#else
    const uint last = first + 2;
#endif
    float sum = 0;
    for (uint group = first; group < last; ++group) {
        const float scale = scales[group];  // finding: out-of-bounds-read
        for (uint at = lane; at < 64; at += 32) { sum += scale * weights[min(group * 64 + at, groups * 64 - 1)]; }
    }
    out[part * 32 + lane] = sum;
}
