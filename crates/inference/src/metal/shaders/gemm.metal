// gemm: y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n]), many vectors against a matrix of any format.
//
// For devices with matrix units: simdgroup matrices of 8 × 8. A threadgroup computes TILE_M · SIMDGROUPS × 32 results,
// TILE_M × 32 in each simdgroup, in steps of 32 columns:
//
//   1. The simdgroups together dequantize 32 columns of 32 rows of W, one row per lane, into threadgroup memory
//      as [k][n]: lanes store to adjacent addresses, and the product reads it without a transpose.
//   2. Each simdgroup loads its own TILE_M vectors, as [m][k]; rows past M are 0.
//   3. TILE_M / 8 × 4 products of 8 × 8 for each 8 columns: each matrix of x is used four times, and the sums of four
//      matrices, eight numbers per thread, stay in registers. On a CPU with AVX-512 these are half of all registers,
//      and 49% of the peak is reached; the sums of 16 vectors would take all of them, and reach 38%.
//
// Staged numbers have the type of the activations, sums are float.
//
// buffers  0 w device const uchar: N × K of the format F, `blocks` or `tiles`   1 x device const T [M, K]
//          2 y device T [M, N]   3 bias device const float [N], with BIAS   4 residual device const T [M, N], with
//          RESIDUAL; may be y   5 p constant GemmParams
// grid     ceil(M / (TILE_M · SIMDGROUPS)) × ceil(N / 32) threadgroups of 32 · SIMDGROUPS threads
// needs    K a multiple of 32 and of the format's block; any M and N
// moves    N · K / BLOCK · BYTES for each threadgroup of rows + sizeof(T) · (M · K · ceil(N / 32) + M · N) bytes
#include <metal_simdgroup_matrix>
#include "common.metal"
#include "quantize.metal"

constant uint K [[function_constant(20)]];
constant bool BIAS [[function_constant(24)]];
constant bool RESIDUAL [[function_constant(25)]];

constant constexpr uint MAX_GEMM_SIMDGROUPS = 4; // SIMDGROUPS at most
constant constexpr uint TILE_M = 8;  // vectors of a simdgroup
constant constexpr uint TILE_K = 32; // columns of a step

struct GemmParams {
    uint n; // rows of the matrix
    uint m; // vectors
};

// Dequantizes the columns from `first` on of 32 rows of W, as [k][n].
template <typename F, typename T>
inline void stage_weights(device const uchar* w, Row row, uint first, threadgroup T* staged, ThreadPosition position) {
    for (uint i = position.simdgroup; i < TILE_K / 4; i += SIMDGROUPS) {
        uint k = first + 4 * i;
        float4 weights = dequantize<F>(block_units<F>(w, K, row, k / F::BLOCK), k % F::BLOCK);
        for (uint j = 0; j < 4; j++) {
            staged[(4 * i + j) * TILE_ROWS + position.lane] = T(weights[j]);
        }
    }
}

template <typename F, typename T>
kernel void gemm(device const uchar* w [[buffer(0)]],
                 device const T* x [[buffer(1)]],
                 device T* y [[buffer(2)]],
                 device const float* bias [[buffer(3), function_constant(BIAS)]],
                 device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                 constant GemmParams& p [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    threadgroup T weights[TILE_K * TILE_ROWS];
    threadgroup T vectors[MAX_GEMM_SIMDGROUPS * TILE_M * TILE_K];
    threadgroup float results[MAX_GEMM_SIMDGROUPS * TILE_M * TILE_ROWS];
    ThreadPosition position = {lane, simdgroup, SIMDGROUPS};
    Row row = {group.y, TILED ? lane : min(lane, p.n - 1 - group.y * TILE_ROWS)};
    uint first = (group.x * SIMDGROUPS + simdgroup) * TILE_M;
    threadgroup T* own = vectors + simdgroup * TILE_M * TILE_K;

    simdgroup_matrix<float, 8, 8> sums[TILE_M / 8][TILE_ROWS / 8];
    for (uint i = 0; i < TILE_M / 8; i++) {
        for (uint j = 0; j < TILE_ROWS / 8; j++) {
            sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }
    for (uint k = 0; k < K; k += TILE_K) {
        stage_weights<F>(w, row, k, weights, position);
        for (uint m = 0; m < TILE_M; m++) {
            own[m * TILE_K + lane] = first + m < p.m ? x[ulong(first + m) * K + k + lane] : T(0.0f);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint step = 0; step < TILE_K; step += 8) {
            simdgroup_matrix<T, 8, 8> a[TILE_M / 8], b;
            for (uint i = 0; i < TILE_M / 8; i++) {
                simdgroup_load(a[i], own + i * 8 * TILE_K + step, TILE_K);
            }
            for (uint j = 0; j < TILE_ROWS / 8; j++) {
                simdgroup_load(b, weights + step * TILE_ROWS + j * 8, TILE_ROWS);
                for (uint i = 0; i < TILE_M / 8; i++) {
                    simdgroup_multiply_accumulate(sums[i][j], a[i], b, sums[i][j]);
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }

    // Results go through threadgroup memory: there, every thread knows the row and column of its results.
    threadgroup float* result = results + simdgroup * TILE_M * TILE_ROWS;
    for (uint i = 0; i < TILE_M / 8; i++) {
        for (uint j = 0; j < TILE_ROWS / 8; j++) {
            simdgroup_store(sums[i][j], result + i * 8 * TILE_ROWS + j * 8, TILE_ROWS);
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    uint n = group.y * TILE_ROWS + lane;
    if (n < p.n) {
        float added = BIAS ? bias[n] : 0.0f;
        for (uint m = 0; m < TILE_M; m++) {
            if (first + m < p.m) {
                ulong at = ulong(first + m) * p.n + n;
                y[at] = T(result[m * TILE_ROWS + lane] + added + (RESIDUAL ? float(residual[at]) : 0.0f));
            }
        }
    }
}

#define INSTANTIATE_GEMM(format, F)                    \
    INSTANTIATE("gemm_" format "_f32", gemm, F, float) \
    INSTANTIATE("gemm_" format "_f16", gemm, F, half)

ALL_FORMATS(INSTANTIATE_GEMM)
