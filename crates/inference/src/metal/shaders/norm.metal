// norm: normalizes each row of DIM numbers. x, h, y are f32 or f16; weights and sums are float.
//   rms_norm       y = x / √(mean(x²) + ε) · w
//   layer_norm     y = (x − mean(x)) / √(mean((x − mean(x))²) + ε) · w + b
//   add_rms_norm   h = h + x, then y = h / √(mean(h²) + ε) · w: also updates the residual stream
//   rms_norm_add   h = h + x / √(mean(x²) + ε) · w, and with NEXT, y = h / √(mean(h²) + ε_next) · next: the norm after a
//                  block of layers that have norms at both ends, and the norm before the next block
//   head_rms_norm  rms_norm of each head, in place: DIM is the size of a head, w is the same for all of them
// buffers  x, h, y device [rows, DIM], rows one after the other; w, b device const float [DIM]; epsilon constant float
//          head_rms_norm: x device [rows, STRIDE]; the first heads·DIM numbers of a row are its heads (so q and k can
//          be normalized where a fused product wrote them)
//          rms_norm, rms_norm_add: packed_y device PackedBlock [rows, DIM / 32] instead of y, with PACKED_Y; DIM a
//          multiple of 32
//          layer_norm: b with SHIFT
//          y may be x: a thread writes only numbers that it alone reads, and only after the sums are complete
// grid     rows threadgroups of 32·SIMDGROUPS threads; head_rms_norm: (heads, rows) threadgroups of 32
//          Adjacent lanes take adjacent numbers, for any DIM. One simdgroup needs no barrier, which is best on a CPU
//          and for short rows; several hide the latency of memory on a GPU. The second pass reads from the cache.
// moves    2·DIM numbers per row (add_rms_norm 4·DIM, rms_norm_add 3·DIM or 4·DIM), and the weights once
#include "common.metal"
#include "packed.metal"

constant uint DIM [[function_constant(0)]];
constant uint STRIDE [[function_constant(2)]];
constant bool SHIFT [[function_constant(16)]]; // layer_norm adds b
constant bool NEXT [[function_constant(51)]];  // rms_norm_add also normalizes the sum
constant bool NEXT_NUMBERS = NEXT && !PACKED_Y;
constant bool NEXT_PACKED = NEXT && PACKED_Y;

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void rms_norm(device const T* x [[buffer(0)]],
                     device const float* w [[buffer(1)]],
                     device T* y [[buffer(2), function_constant(NUMBERS_Y)]],
                     constant float& epsilon [[buffer(3)]],
                     device PackedBlock* packed_y [[buffer(4), function_constant(PACKED_Y)]],
                     uint row [[threadgroup_position_in_grid]],
                     uint thread_index [[thread_position_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scratch[MAX_SIMDGROUPS];
    x += ulong(row) * DIM;
    float squares = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        float value = float(x[i]);
        squares += value * value;
    }
    squares = threadgroup_sum(squares, scratch, ThreadPosition{lane, simdgroup, SIMDGROUPS});
    float factor = rsqrt(squares / float(DIM) + epsilon);
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        float normalized = float(x[i]) * factor * w[i];
        if (PACKED_Y) {
            pack(normalized, packed_y + (ulong(row) * DIM + i - lane) / PACKED_NUMBERS, lane);
        } else {
            y[ulong(row) * DIM + i] = T(normalized);
        }
    }
}

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void layer_norm(device const T* x [[buffer(0)]],
                       device const float* w [[buffer(1)]],
                       device const float* b [[buffer(2), function_constant(SHIFT)]],
                       device T* y [[buffer(3)]],
                       constant float& epsilon [[buffer(4)]],
                       uint row [[threadgroup_position_in_grid]],
                       uint thread_index [[thread_position_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scratch[MAX_SIMDGROUPS];
    ThreadPosition position{lane, simdgroup, SIMDGROUPS};
    x += ulong(row) * DIM;
    y += ulong(row) * DIM;
    float sum = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        sum += float(x[i]);
    }
    float mean = threadgroup_sum(sum, scratch, position) / float(DIM);
    // Squares of the differences: mean(x²) − mean(x)² would lose all digits if the mean is large.
    float squares = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        float difference = float(x[i]) - mean;
        squares += difference * difference;
    }
    float factor = rsqrt(threadgroup_sum(squares, scratch, position) / float(DIM) + epsilon);
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        y[i] = T((float(x[i]) - mean) * factor * w[i] + (SHIFT ? b[i] : 0.0f));
    }
}

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void add_rms_norm(device T* h [[buffer(0)]],
                         device const T* x [[buffer(1)]],
                         device const float* w [[buffer(2)]],
                         device T* y [[buffer(3)]],
                         constant float& epsilon [[buffer(4)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint thread_index [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scratch[MAX_SIMDGROUPS];
    h += ulong(row) * DIM;
    x += ulong(row) * DIM;
    y += ulong(row) * DIM;
    float squares = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        // The norm is that of the stored sum, rounded to T.
        T sum = T(float(h[i]) + float(x[i]));
        h[i] = sum;
        squares += float(sum) * float(sum);
    }
    squares = threadgroup_sum(squares, scratch, ThreadPosition{lane, simdgroup, SIMDGROUPS});
    float factor = rsqrt(squares / float(DIM) + epsilon);
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        y[i] = T(float(h[i]) * factor * w[i]);
    }
}

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void rms_norm_add(device T* h [[buffer(0)]],
                         device const T* x [[buffer(1)]],
                         device const float* w [[buffer(2)]],
                         constant float& epsilon [[buffer(3)]],
                         device const float* next [[buffer(4), function_constant(NEXT)]],
                         device T* y [[buffer(5), function_constant(NEXT_NUMBERS)]],
                         device PackedBlock* packed_y [[buffer(6), function_constant(NEXT_PACKED)]],
                         constant float& next_epsilon [[buffer(7), function_constant(NEXT)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint thread_index [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float scratch[MAX_SIMDGROUPS];
    ThreadPosition position{lane, simdgroup, SIMDGROUPS};
    h += ulong(row) * DIM;
    x += ulong(row) * DIM;
    float squares = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        float value = float(x[i]);
        squares += value * value;
    }
    float factor = rsqrt(threadgroup_sum(squares, scratch, position) / float(DIM) + epsilon);
    squares = 0.0f;
    for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
        // The next norm is that of the stored sum, rounded to T.
        T sum = T(float(h[i]) + float(x[i]) * factor * w[i]);
        h[i] = sum;
        squares += float(sum) * float(sum);
    }
    if (NEXT) {
        factor = rsqrt(threadgroup_sum(squares, scratch, position) / float(DIM) + next_epsilon);
        for (uint i = thread_index; i < DIM; i += SIMD_WIDTH * SIMDGROUPS) {
            float normalized = float(h[i]) * factor * next[i];
            if (PACKED_Y) {
                pack(normalized, packed_y + (ulong(row) * DIM + i - lane) / PACKED_NUMBERS, lane);
            } else {
                y[ulong(row) * DIM + i] = T(normalized);
            }
        }
    }
}

template <typename T>
kernel void head_rms_norm(device T* x [[buffer(0)]],
                          device const float* w [[buffer(1)]],
                          constant float& epsilon [[buffer(2)]],
                          uint2 at [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    x += ulong(at.y) * STRIDE + at.x * DIM;
    float squares = 0.0f;
    for (uint i = lane; i < DIM; i += SIMD_WIDTH) {
        float value = float(x[i]);
        squares += value * value;
    }
    float factor = rsqrt(simd_sum(squares) / float(DIM) + epsilon);
    for (uint i = lane; i < DIM; i += SIMD_WIDTH) {
        x[i] = T(float(x[i]) * factor * w[i]);
    }
}

INSTANTIATE("rms_norm_f32", rms_norm, float)
INSTANTIATE("rms_norm_f16", rms_norm, half)
INSTANTIATE("layer_norm_f32", layer_norm, float)
INSTANTIATE("layer_norm_f16", layer_norm, half)
INSTANTIATE("add_rms_norm_f32", add_rms_norm, float)
INSTANTIATE("add_rms_norm_f16", add_rms_norm, half)
INSTANTIATE("rms_norm_add_f32", rms_norm_add, float)
INSTANTIATE("rms_norm_add_f16", rms_norm_add, half)
INSTANTIATE("head_rms_norm_f32", head_rms_norm, float)
INSTANTIATE("head_rms_norm_f16", head_rms_norm, half)
