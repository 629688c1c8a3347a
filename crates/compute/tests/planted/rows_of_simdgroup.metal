// A simdgroup computes four rows, the number of rows is no multiple of 4, and the last rows are stored anyway.
//
// dispatch: 3 x 32
// buffer 0: f32[384] iota
// buffer 1: f32[10] zeros
// buffer 2: u32 = 10
#include <metal_stdlib>
using namespace metal;

// candle, issue 3863: matrix-vector products of K-quants. The matrix has rows to spare, and the output has not.
kernel void k(device const float *rows [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
    const uint first = group * 4;
    for (uint row = 0; row < 4; ++row) {
        const float sum = simd_sum(rows[(first + row) * 32 + lane]);
#ifdef FIXED
        if (lane == 0 && first + row < n) { out[first + row] = sum; }
#else
        if (lane == 0) {
            out[first + row] = sum;  // finding: out-of-bounds-write
        }
#endif
    }
}
