// softmax: y[i] = e^(s·x[i] − M) / Σ_j e^(s·x[j] − M) for each row, M its largest s·x[j].
// buffers  0 x device const [rows, n]   1 y device [rows, n], f32 or f16; may be x
//          2 p constant SoftmaxParams {n, scale}
// grid     rows threadgroups of 32·SIMDGROUPS threads
//          Online: one pass finds both the maximum and the sum. A lane that finds a larger number rescales its sum, so
//          each number costs one exponential, and the row is read twice instead of three times.
// edges    −∞ masks a number out: its result is 0; a row of −∞ alone gives 0. NaN and +∞ are not supported.
// moves    3·n numbers per row
#include "common.metal"


struct SoftmaxParams {
    uint n;
    float scale;
};

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void softmax(device const T* x [[buffer(0)]],
                    device T* y [[buffer(1)]],
                    constant SoftmaxParams& p [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_position_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scratch[MAX_SIMDGROUPS];
    ThreadPosition position{lane, simdgroup, SIMDGROUPS};
    x += ulong(row) * p.n;
    y += ulong(row) * p.n;

    // Not −∞: the difference of two infinities is NaN.
    float largest = -FLT_MAX;
    float sum = 0.0f;
    for (uint i = thread_index; i < p.n; i += SIMD_WIDTH * SIMDGROUPS) {
        float value = float(x[i]) * p.scale;
        float smaller = exp(-fabs(value - largest));
        sum = value > largest ? sum * smaller + 1.0f : sum + smaller;
        largest = max(largest, value);
    }
    float row_largest = threadgroup_max(largest, scratch, position);
    float row_sum = threadgroup_sum(sum * exp(largest - row_largest), scratch, position);

    float factor = row_sum > 0.0f ? 1.0f / row_sum : 0.0f;
    for (uint i = thread_index; i < p.n; i += SIMD_WIDTH * SIMDGROUPS) {
        y[i] = T(exp(float(x[i]) * p.scale - row_largest) * factor);
    }
}

INSTANTIATE("softmax_f32", softmax, float)
INSTANTIATE("softmax_f16", softmax, half)
