// gemv: y[n] = Σ_k W[n,k] · x[k] (+ bias[n]), one vector against a float matrix.
// buffers    0 weights device const float [N, K], rows contiguous   1 x device const float [K]
//            2 y device float [N]                                   3 bias device const float [N], with USE_BIAS only
// constants  0 K uint, the length of a row                          1 USE_BIAS bool, true: bias is bound and added
// grid       N threadgroups of 32 threads: one simdgroup per row
// needs      N ≥ 1; any K, lanes past its end add nothing           sums  float, per lane, then simd_sum
// moves      4·(N·K + K + N) bytes, and 4·N more with USE_BIAS
#include <metal_stdlib>
using namespace metal;

constant uint K [[function_constant(0)]];
constant bool USE_BIAS [[function_constant(1)]];

kernel void gemv(device const float* weights [[buffer(0)]],
                 device const float* x [[buffer(1)]],
                 device float* y [[buffer(2)]],
                 device const float* bias [[buffer(3), function_constant(USE_BIAS)]],
                 uint row [[threadgroup_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]],
                 uint lanes [[threads_per_simdgroup]]) {
    device const float* weights_row = weights + size_t(row) * K;

    float sum = 0.0f;
    for (uint k = lane; k < K; k += lanes) {
        sum += weights_row[k] * x[k];
    }
    sum = simd_sum(sum);

    if (USE_BIAS) {
        sum += bias[row];
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
