// Products of one to eight vectors, or batches of them, with a matrix of numbers: F32, F16 or BF16, any K.
//
//     gemv         y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n])
//     gemv_gated   y[m,n] = silu(Σ_k G[n,k] · x[m,k]) · Σ_k U[n,k] · x[m,k]
//     gemv_qkv     q = Wq x, k = Wk x, v = Wv x  (+ biases), in one launch
//
// Matrices are row-major, [N, K], as files have them: a simdgroup takes ROWS rows, lanes are columns. 32 numbers side by
// side are one or two vector registers of a CPU and one or two cache lines of a GPU, so nothing is gained by another
// layout. Each piece of x is loaded once for ROWS rows, and each piece of W once for BATCH vectors; with ROWS · BATCH sums
// per lane, eight at most, no addition waits for the one before.
//
// grid     ceil(M / BATCH) × ceil(N / (ROWS · SIMDGROUPS)) threadgroups of 32 · SIMDGROUPS threads
// sums     float, per lane, then simd_sum; the same bits at every run
// moves    sizeof(W) · N · K for each BATCH of vectors + sizeof(T) · (M · K + M · N) bytes
#include "common.metal"

constant uint K [[function_constant(0)]];          // columns of the matrix, length of a vector
constant uint BATCH [[function_constant(1)]];      // vectors that a simdgroup takes at a time: 1 to 8
constant uint ROWS [[function_constant(2)]];       // rows that a simdgroup takes: 1 to 8; ROWS · BATCH <= 8
constant uint SIMDGROUPS [[function_constant(3)]]; // in a threadgroup
constant bool BIAS [[function_constant(4)]];
constant bool RESIDUAL [[function_constant(5)]];

constant constexpr uint MAX_SUMS = 8;

// Which rows and vectors a simdgroup has; rows and vectors past the end are read as the last.
struct Part {
    uint row;     // the first
    uint rows;    // of the matrix
    uint vector;  // the first
    uint vectors; // all of them
};

template <typename W, typename T>
inline void multiply_columns(device const W* w, device const T* x, Part part, uint k, thread float* sums) {
    float values[MAX_SUMS];
    for (uint m = 0; m < BATCH; m++) {
        values[m] = float(x[ulong(min(part.vector + m, part.vectors - 1)) * K + k]);
    }
    for (uint r = 0; r < ROWS; r++) {
        float weight = float(w[ulong(min(part.row + r, part.rows - 1)) * K + k]);
        for (uint m = 0; m < BATCH; m++) {
            sums[r * BATCH + m] += weight * values[m];
        }
    }
}

// sums[r · BATCH + m] = W[row + r] · x[vector + m], in every lane.
template <typename W, typename T>
inline void multiply_rows(device const W* w, device const T* x, Part part, uint lane, thread float* sums) {
    for (uint i = 0; i < ROWS * BATCH; i++) {
        sums[i] = 0.0f;
    }
    for (uint k = 0; k + SIMD_WIDTH <= K; k += SIMD_WIDTH) {
        multiply_columns(w, x, part, k + lane, sums);
    }
    if (lane < K % SIMD_WIDTH) {
        multiply_columns(w, x, part, K - K % SIMD_WIDTH + lane, sums);
    }
    for (uint i = 0; i < ROWS * BATCH; i++) {
        sums[i] = simd_sum(sums[i]);
    }
}

struct GemvFloatParams {
    uint n; // rows of the matrix
    uint m; // vectors
};

// buffers  0 w device const W [N, K]   1 x device const T [M, K]   2 y device T [M, N]   3 bias device const float [N],
//          with BIAS   4 residual device const T [M, N], with RESIDUAL; may be y   5 p constant GemvFloatParams
template <typename W, typename T>
kernel void gemv(device const W* w [[buffer(0)]],
                 device const T* x [[buffer(1)]],
                 device T* y [[buffer(2)]],
                 device const float* bias [[buffer(3), function_constant(BIAS)]],
                 device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                 constant GemvFloatParams& p [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    Part part = {(group.y * SIMDGROUPS + simdgroup) * ROWS, p.n, group.x * BATCH, p.m};
    float sums[MAX_SUMS];
    multiply_rows(w, x, part, lane, sums);
    for (uint r = 0; r < ROWS; r++) {
        for (uint m = 0; m < BATCH; m++) {
            uint row = part.row + r, vector = part.vector + m;
            if (lane == 0 && row < p.n && vector < p.m) {
                ulong at = ulong(vector) * p.n + row;
                float added = (BIAS ? bias[row] : 0.0f) + (RESIDUAL ? float(residual[at]) : 0.0f);
                y[at] = T(sums[r * BATCH + m] + added);
            }
        }
    }
}

// buffers  0 gate, 1 up device const W [N, K]   2 x device const T [M, K]   3 y device T [M, N]
//          4 p constant GemvFloatParams
template <typename W, typename T>
kernel void gemv_gated(device const W* gate [[buffer(0)]],
                       device const W* up [[buffer(1)]],
                       device const T* x [[buffer(2)]],
                       device T* y [[buffer(3)]],
                       constant GemvFloatParams& p [[buffer(4)]],
                       uint2 group [[threadgroup_position_in_grid]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    Part part = {(group.y * SIMDGROUPS + simdgroup) * ROWS, p.n, group.x * BATCH, p.m};
    float gates[MAX_SUMS], ups[MAX_SUMS];
    multiply_rows(gate, x, part, lane, gates);
    multiply_rows(up, x, part, lane, ups);
    for (uint r = 0; r < ROWS; r++) {
        for (uint m = 0; m < BATCH; m++) {
            uint row = part.row + r, vector = part.vector + m;
            if (lane == 0 && row < p.n && vector < p.m) {
                y[ulong(vector) * p.n + row] = T(silu(gates[r * BATCH + m]) * ups[r * BATCH + m]);
            }
        }
    }
}

struct GemvFloatQkvParams {
    uint q_rows;
    uint kv_rows;
    uint m; // vectors
};

// buffers  0 wq device const W [q_rows, K]   1 wk, 2 wv device const W [kv_rows, K]   3 x device const T [M, K]
//          4 q device T [M, q_rows]   5 k, 6 v device T [M, kv_rows]   7 q_bias, 8 k_bias, 9 v_bias device const float,
//          with BIAS   10 p constant GemvFloatQkvParams
// grid     ceil(M / BATCH) × (threadgroups for q_rows + 2 · threadgroups for kv_rows)
template <typename W, typename T>
kernel void gemv_qkv(device const W* wq [[buffer(0)]],
                     device const W* wk [[buffer(1)]],
                     device const W* wv [[buffer(2)]],
                     device const T* x [[buffer(3)]],
                     device T* q [[buffer(4)]],
                     device T* k [[buffer(5)]],
                     device T* v [[buffer(6)]],
                     device const float* q_bias [[buffer(7), function_constant(BIAS)]],
                     device const float* k_bias [[buffer(8), function_constant(BIAS)]],
                     device const float* v_bias [[buffer(9), function_constant(BIAS)]],
                     constant GemvFloatQkvParams& p [[buffer(10)]],
                     uint2 group [[threadgroup_position_in_grid]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint taken = ROWS * SIMDGROUPS;
    uint q_groups = (p.q_rows + taken - 1) / taken, kv_groups = (p.kv_rows + taken - 1) / taken;
    bool is_q = group.y < q_groups, is_k = group.y < q_groups + kv_groups;
    device const W* w = is_q ? wq : is_k ? wk : wv;
    device T* y = is_q ? q : is_k ? k : v;
    uint own = is_q ? group.y : is_k ? group.y - q_groups : group.y - q_groups - kv_groups;
    Part part = {(own * SIMDGROUPS + simdgroup) * ROWS, is_q ? p.q_rows : p.kv_rows, group.x * BATCH, p.m};
    float sums[MAX_SUMS];
    multiply_rows(w, x, part, lane, sums);
    for (uint r = 0; r < ROWS; r++) {
        for (uint m = 0; m < BATCH; m++) {
            uint row = part.row + r, vector = part.vector + m;
            if (lane == 0 && row < part.rows && vector < p.m) {
                float added = 0.0f;
                if (BIAS) {
                    added = is_q ? q_bias[row] : is_k ? k_bias[row] : v_bias[row];
                }
                y[ulong(vector) * part.rows + row] = T(sums[r * BATCH + m] + added);
            }
        }
    }
}

#define INSTANTIATE_GEMV(format, W)                               \
    INSTANTIATE("gemv_" format "_f32", gemv, W, float)             \
    INSTANTIATE("gemv_" format "_f16", gemv, W, half)              \
    INSTANTIATE("gemv_gated_" format "_f32", gemv_gated, W, float) \
    INSTANTIATE("gemv_gated_" format "_f16", gemv_gated, W, half)  \
    INSTANTIATE("gemv_qkv_" format "_f32", gemv_qkv, W, float)     \
    INSTANTIATE("gemv_qkv_" format "_f16", gemv_qkv, W, half)

INSTANTIATE_GEMV("f32", float)
INSTANTIATE_GEMV("f16", half)
INSTANTIATE_GEMV("bf16", bfloat)
