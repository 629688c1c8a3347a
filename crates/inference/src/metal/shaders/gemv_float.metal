// Products of one to eight vectors, or batches of them, with a matrix of plain numbers: F32, F16 or BF16.
//
// The kernels for tiles, and for rows if K is a multiple of 32, are those of include/gemv.metal. On one thread of a CPU
// with AVX-512 a matrix of 4096 × 4096 in F16 streams at 37 GB/s; batches of 512 vectors reach four fifths of the peak.
//
// gemv_rows is for row-major matrices, as in files, with any K:
//
//     y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n])
//
// buffers  0 w device const W [N, K]   1 x device const T [M, K]   2 y device T [M, N]   3 bias device const float [N],
//          with BIAS   4 residual device const T [M, N], with RESIDUAL; may be y   5 p constant GemvParams
// grid     ceil(M / BATCH) × ceil(N / ROWS) threadgroups of 32 threads
//          A simdgroup takes ROWS rows, and lanes are columns: 32 adjacent numbers are one or two vector registers of a
//          CPU and one or two cache lines of a GPU. Each piece of x is loaded once for ROWS rows, and each piece of W
//          once for BATCH vectors; with several sums per lane no addition waits for the previous one.
// sums     float, per lane, then simd_sum; the same bits in every run
// moves    sizeof(W) · N · K for each BATCH of vectors + sizeof(T) · (M · K + M · N) bytes
#include "gemv.metal"

PLAIN_FORMATS(INSTANTIATE_GEMV)

constant uint ROWS [[function_constant(26)]]; // that a simdgroup takes: 1 to 8; ROWS · BATCH <= 8

constant constexpr uint MAX_SUMS = 8;

// Rows and vectors of a simdgroup; past the end, the last row or vector is read again.
struct Part {
    uint row;    // the first
    uint vector; // the first
};

template <typename W, typename T>
inline void multiply_columns(device const W* w, device const T* x, Part part, constant GemvParams& p, uint k,
                             thread float* sums) {
    float values[MAX_SUMS];
    for (uint m = 0; m < BATCH; m++) {
        values[m] = float(x[ulong(min(part.vector + m, p.m - 1)) * K + k]);
    }
    for (uint r = 0; r < ROWS; r++) {
        float weight = float(w[ulong(min(part.row + r, p.n - 1)) * K + k]);
        for (uint m = 0; m < BATCH; m++) {
            sums[r * BATCH + m] += weight * values[m];
        }
    }
}

template <typename W, typename T>
kernel void gemv_rows(device const W* w [[buffer(0)]],
                      device const T* x [[buffer(1)]],
                      device T* y [[buffer(2)]],
                      device const float* bias [[buffer(3), function_constant(BIAS)]],
                      device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                      constant GemvParams& p [[buffer(5)]],
                      uint2 group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    Part part = {group.y * ROWS, group.x * BATCH};
    float sums[MAX_SUMS];
    for (uint i = 0; i < ROWS * BATCH; i++) {
        sums[i] = 0.0f;
    }
    for (uint k = 0; k + SIMD_WIDTH <= K; k += SIMD_WIDTH) {
        multiply_columns(w, x, part, p, k + lane, sums);
    }
    if (lane < K % SIMD_WIDTH) {
        multiply_columns(w, x, part, p, K - K % SIMD_WIDTH + lane, sums);
    }
    for (uint r = 0; r < ROWS; r++) {
        for (uint m = 0; m < BATCH; m++) {
            float sum = simd_sum(sums[r * BATCH + m]);
            uint row = part.row + r, vector = part.vector + m;
            if (lane == 0 && row < p.n && vector < p.m) {
                ulong at = ulong(vector) * p.n + row;
                float added = (BIAS ? bias[row] : 0.0f) + (RESIDUAL ? float(residual[at]) : 0.0f);
                y[at] = T(sum + added);
            }
        }
    }
}

INSTANTIATE("gemv_rows_f32_f32", gemv_rows, float, float)
INSTANTIATE("gemv_rows_f32_f16", gemv_rows, float, half)
INSTANTIATE("gemv_rows_f16_f32", gemv_rows, half, float)
INSTANTIATE("gemv_rows_f16_f16", gemv_rows, half, half)
INSTANTIATE("gemv_rows_bf16_f32", gemv_rows, bfloat, float)
INSTANTIATE("gemv_rows_bf16_f16", gemv_rows, bfloat, half)
