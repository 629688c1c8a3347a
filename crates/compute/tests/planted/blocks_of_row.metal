// A loop over the blocks of a row takes one too many; the read is two template functions further.
//
// dispatch: 16 x 32
// buffer 0: u8[1440] zeros
// buffer 1: f32[160] ones
// buffer 2: f32[16] zeros
// buffer 3: u32 = 160
#include <metal_stdlib>
using namespace metal;

struct block_q4_0 { half d; uchar qs[16]; };
template <typename B> float dot_block(device const B *b, device const float *x) {
    float s = 0;
    for (int i = 0; i < 16; i++) {
        s += x[i] * (float(b->qs[i] & 15) - 8) + x[i + 16] * (float(b->qs[i] >> 4) - 8);  // finding: out-of-bounds-read
    }
    return s * float(b->d);  // finding: out-of-bounds-read
}
template <typename B> float row(device const B *w, device const float *x, uint blocks, uint lane) {
    float s = 0;
#ifdef FIXED
    for (uint i = lane; i < blocks; i += 32) s += dot_block(w + i, x + i * 32);
#else
    for (uint i = lane; i <= blocks; i += 32) s += dot_block(w + i, x + min(i, blocks - 1) * 32);
#endif
    return simd_sum(s);
}
kernel void k(device const block_q4_0 *w [[buffer(0)]], device const float *x [[buffer(1)]], device float *y [[buffer(2)]], constant uint &k [[buffer(3)]],
              uint r [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    const uint blocks = k / 32;
    const float s = row(w + r * blocks, x, blocks, lane);
    if (lane == 0) y[r] = s;
}
