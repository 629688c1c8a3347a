// gemm: y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n]), many vectors against a matrix of any format.
//
// For devices with matrix units: simdgroup matrices of 8 × 8. A threadgroup computes SIZE × SIZE results, in steps of
// 64 bytes of each vector:
//
//   1. Each thread has two pieces of 16 bytes of W, dequantized, and two of x in registers, and stores them to
//      threadgroup memory, as [n][k] and [m][k]. Rows are 16 bytes longer than they need to be: then the pieces of eight
//      adjacent rows lie in different banks.
//   2. It loads its pieces of the next step. They arrive while
//   3. each simdgroup multiplies its VECTORS × 32 part of the tile. A matrix of x is used four times, one of W VECTORS / 8
//      times.
//
//     gemm         SIZE 64: 2 × 2 simdgroups, 32 vectors each
//     gemm_large   SIZE 128: 2 × 4 simdgroups, 64 vectors each; half as many bytes of threadgroup memory per product, but
//                  only large products have enough tiles for all cores of a GPU
//
// Staged numbers have the type of the activations, or half with ROUNDED, for which GPUs have faster units: numbers that half
// cannot express become the largest that it can. Sums are float.
//
// buffers  0 w device const uchar: N × K of the format F, `blocks` or `tiles`   1 x device const T [M, K], aligned to 16
//          bytes   2 y device T [M, N]   3 bias device const float [N], with BIAS   4 residual device const T [M, N],
//          with RESIDUAL; may be y   5 p constant GemmParams
//          with EXPERTS: w and bias are those of all experts, 6 tiles device const ExpertTile, of at most SIZE vectors
// grid     ceil(M / SIZE) × ceil(N / SIZE) threadgroups of SIZE · SIZE / VECTORS threads; with EXPERTS, the first size is
//          the number of tiles
// needs    K a multiple of 32 and of the format's block; any M and N
// moves    N · K / BLOCK · BYTES for each SIZE vectors + sizeof(T) · (M · K · ceil(N / SIZE) + M · N) bytes
#include <metal_simdgroup_matrix>
#include "common.metal"
#include "expert_tiles.metal"
#include "quantize.metal"

constant uint K [[function_constant(20)]];
constant bool BIAS [[function_constant(24)]];
constant bool RESIDUAL [[function_constant(25)]];
constant bool ROUNDED [[function_constant(32)]];

// Vectors and rows of a threadgroup's tile, and vectors of a simdgroup's part of it.
constant constexpr uint GEMM_SIZE = 64, GEMM_VECTORS = 32;
constant constexpr uint GEMM_LARGE_SIZE = 128, GEMM_LARGE_VECTORS = 64;

constant constexpr uint PIECE = 16;     // bytes that a thread copies at a time
constant constexpr uint STEP_BYTES = 64; // of a vector in a step
constant constexpr uint ROW_BYTES = STEP_BYTES + PIECE;

struct GemmParams {
    uint n; // rows of the matrix
    uint m; // vectors
};

// Columns k … k + 16 / sizeof(S) − 1 of a row.
template <typename F, typename S>
struct Weights;

template <typename F>
struct Weights<F, float> {
    static uint4 piece(device const uchar* w, Row row, uint k) {
        return as_type<uint4>(dequantize<F>(block_units<F>(w, K, row, k / F::BLOCK), k % F::BLOCK));
    }
};

template <typename F>
struct Weights<F, half> {
    static uint4 piece(device const uchar* w, Row row, uint k) {
        BlockUnits block = block_units<F>(w, K, row, k / F::BLOCK);
        half4 low = half4(dequantize<F>(block, k % F::BLOCK)), high = half4(dequantize<F>(block, k % F::BLOCK + 4));
        return uint4(as_type<uint2>(low), as_type<uint2>(high));
    }
};

// As many numbers of a vector of T.
template <typename T, typename S>
struct Numbers {
    static uint4 piece(device const T* x) {
        return *(device const uint4*)x;
    }
};

template <>
struct Numbers<float, half> {
    static half4 saturated(float4 x) {
        return half4(clamp(x, -65504.0f, 65504.0f));
    }
    static uint4 piece(device const float* x) {
        half4 low = saturated(*(device const float4*)x), high = saturated(*(device const float4*)(x + 4));
        return uint4(as_type<uint2>(low), as_type<uint2>(high));
    }
};

// A thread's part of a step.
struct Pieces {
    uint4 weights[2];
    uint4 vectors[2];
};

template <typename F, typename T, typename S, uint SIZE, uint VECTORS>
struct GemmTile {
    static constant constexpr uint STEP = STEP_BYTES / sizeof(S); // columns
    static constant constexpr uint WIDTH = PIECE / sizeof(S);     // columns of a piece
    static constant constexpr uint STRIDE = ROW_BYTES / sizeof(S);
    static constant constexpr uint THREADS = SIZE * SIZE / VECTORS;

    device const uchar* w;
    device const T* x;
    Row row;      // of W, whose pieces `piece` and `piece` + 2 this thread stages
    uint piece;
    uint thread_index;
    uint first;   // vector of the tile
    uint m;

    // Vectors past the last one repeat it: their results are not stored.
    Pieces load(uint k) const {
        Pieces pieces;
        for (uint j = 0; j < 2; j++) {
            pieces.weights[j] = Weights<F, S>::piece(w, row, k + (piece + 2 * j) * WIDTH);
            uint at = thread_index + j * THREADS, vector = min(first + at / 4, m - 1);
            pieces.vectors[j] = Numbers<T, S>::piece(x + ulong(vector) * K + k + at % 4 * WIDTH);
        }
        return pieces;
    }

    void store(Pieces pieces, uint own_row, threadgroup uint4* weights, threadgroup uint4* vectors) const {
        for (uint j = 0; j < 2; j++) {
            weights[own_row * (ROW_BYTES / PIECE) + piece + 2 * j] = pieces.weights[j];
            uint at = thread_index + j * THREADS;
            vectors[at / 4 * (ROW_BYTES / PIECE) + at % 4] = pieces.vectors[j];
        }
    }
};

// The buffers of a product, and the position of a thread.
template <typename T>
struct Product {
    device const uchar* w;
    device const T* x;
    device T* y;
    device const float* bias;
    device const T* residual;
    GemmParams p;
    uint2 group;
    uint simdgroup;
    uint lane;
};

// The product of a tile with the matrix of its expert.
template <typename F, typename T>
inline void select_expert(thread Product<T>& product, ExpertTile tile) {
    uint n = product.p.n;
    product.w += tile.expert * matrix_bytes<F>(n, K);
    product.x += ulong(tile.x) * K;
    product.y += ulong(tile.y) * n;
    if (BIAS) {
        product.bias += ulong(tile.expert) * n;
    }
    if (RESIDUAL) {
        product.residual += ulong(tile.y) * n;
    }
    product.p.m = tile.count;
    product.group.x = 0;
}

// `staged` has room for 2 · SIZE rows.
template <typename F, typename T, typename S, uint SIZE, uint VECTORS>
inline void multiply_tile(Product<T> product, threadgroup uint4* staged) {
    uint2 group = product.group;
    uint simdgroup = product.simdgroup, lane = product.lane;
    GemmParams p = product.p;
    typedef GemmTile<F, T, S, SIZE, VECTORS> Tile;
    threadgroup uint4* weights = staged;
    threadgroup uint4* vectors = staged + SIZE * ROW_BYTES / PIECE;

    // Two simdgroups stage 32 rows of W: one the pieces 0 and 2, the other 1 and 3. In formats of four bits, such pairs
    // are the two halves of the same words.
    uint own_tile = simdgroup / 2, last_tile = (p.n + TILE_ROWS - 1) / TILE_ROWS - 1;
    uint tile = min(group.y * (SIZE / TILE_ROWS) + own_tile, last_tile);
    Row row = {tile, TILED ? lane : min(lane, p.n - 1 - tile * TILE_ROWS)};
    uint own_row = own_tile * TILE_ROWS + lane, first = group.x * SIZE;
    Tile source = {product.w, product.x, row, simdgroup % 2, simdgroup * SIMD_WIDTH + lane, first, p.m};

    // The part of this simdgroup.
    uint first_m = simdgroup % (SIZE / VECTORS) * VECTORS, first_n = simdgroup / (SIZE / VECTORS) * TILE_ROWS;
    threadgroup const S* a_rows = (threadgroup const S*)vectors + first_m * Tile::STRIDE;
    threadgroup const S* b_rows = (threadgroup const S*)weights + first_n * Tile::STRIDE;
    simdgroup_matrix<float, 8, 8> sums[VECTORS / 8][TILE_ROWS / 8];
    for (uint i = 0; i < VECTORS / 8; i++) {
        for (uint j = 0; j < TILE_ROWS / 8; j++) {
            sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }
    Pieces next = source.load(0);
    for (uint k = 0; k < K; k += Tile::STEP) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        source.store(next, own_row, weights, vectors);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        // The last step loads its own pieces again, for nothing.
        next = source.load(min(k + Tile::STEP, K - Tile::STEP));
        for (uint step = 0; step < Tile::STEP; step += 8) {
            simdgroup_matrix<S, 8, 8> a[VECTORS / 8], b[TILE_ROWS / 8];
            for (uint i = 0; i < VECTORS / 8; i++) {
                simdgroup_load(a[i], a_rows + i * 8 * Tile::STRIDE + step, Tile::STRIDE);
            }
            for (uint j = 0; j < TILE_ROWS / 8; j++) {
                simdgroup_load(b[j], b_rows + j * 8 * Tile::STRIDE + step, Tile::STRIDE, ulong2(0, 0), true);
            }
            for (uint i = 0; i < VECTORS / 8; i++) {
                for (uint j = 0; j < TILE_ROWS / 8; j++) {
                    simdgroup_multiply_accumulate(sums[i][j], a[i], b[j], sums[i][j]);
                }
            }
        }
    }

    // Results go through threadgroup memory, eight vectors at a time: there, every thread knows the row and column of
    // its results.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup float* results = (threadgroup float*)staged + simdgroup * 8 * TILE_ROWS;
    uint n = group.y * SIZE + first_n + lane;
    float added = BIAS && n < p.n ? product.bias[n] : 0.0f;
    for (uint i = 0; i < VECTORS / 8; i++) {
        for (uint j = 0; j < TILE_ROWS / 8; j++) {
            simdgroup_store(sums[i][j], results + j * 8, TILE_ROWS);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint r = 0; r < 8; r++) {
            uint m = first + first_m + 8 * i + r;
            if (n < p.n && m < p.m) {
                ulong at = ulong(m) * p.n + n;
                product.y[at] = T(results[r * TILE_ROWS + lane] + added + (RESIDUAL ? float(product.residual[at]) : 0.0f));
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

template <typename F, typename T>
[[max_total_threads_per_threadgroup(GEMM_SIZE * GEMM_SIZE / GEMM_VECTORS)]]
kernel void gemm(device const uchar* w [[buffer(0)]],
                 device const T* x [[buffer(1)]],
                 device T* y [[buffer(2)]],
                 device const float* bias [[buffer(3), function_constant(BIAS)]],
                 device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                 constant GemmParams& p [[buffer(5)]],
                 device const ExpertTile* tiles [[buffer(6), function_constant(EXPERTS)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    threadgroup uint4 staged[2 * GEMM_SIZE * ROW_BYTES / PIECE];
    Product<T> product = {w, x, y, BIAS ? bias : nullptr, RESIDUAL ? residual : nullptr, GemmParams{p.n, p.m}, group, simdgroup, lane};
    if (EXPERTS) {
        ExpertTile tile = load_tile(tiles, group.x);
        if (tile.count == 0) {
            return;
        }
        select_expert<F>(product, tile);
    }
    if (ROUNDED) {
        multiply_tile<F, T, half, GEMM_SIZE, GEMM_VECTORS>(product, staged);
    } else {
        multiply_tile<F, T, T, GEMM_SIZE, GEMM_VECTORS>(product, staged);
    }
}

template <typename F, typename T>
[[max_total_threads_per_threadgroup(GEMM_LARGE_SIZE * GEMM_LARGE_SIZE / GEMM_LARGE_VECTORS)]]
kernel void gemm_large(device const uchar* w [[buffer(0)]],
                       device const T* x [[buffer(1)]],
                       device T* y [[buffer(2)]],
                       device const float* bias [[buffer(3), function_constant(BIAS)]],
                       device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                       constant GemmParams& p [[buffer(5)]],
                       device const ExpertTile* tiles [[buffer(6), function_constant(EXPERTS)]],
                       uint2 group [[threadgroup_position_in_grid]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    threadgroup uint4 staged[2 * GEMM_LARGE_SIZE * ROW_BYTES / PIECE];
    Product<T> product = {w, x, y, BIAS ? bias : nullptr, RESIDUAL ? residual : nullptr, GemmParams{p.n, p.m}, group, simdgroup, lane};
    if (EXPERTS) {
        ExpertTile tile = load_tile(tiles, group.x);
        if (tile.count == 0) {
            return;
        }
        select_expert<F>(product, tile);
    }
    if (ROUNDED) {
        multiply_tile<F, T, half, GEMM_LARGE_SIZE, GEMM_LARGE_VECTORS>(product, staged);
    } else {
        multiply_tile<F, T, T, GEMM_LARGE_SIZE, GEMM_LARGE_VECTORS>(product, staged);
    }
}

#define INSTANTIATE_GEMM(format, F)                                \
    INSTANTIATE("gemm_" format "_f32", gemm, F, float)             \
    INSTANTIATE("gemm_" format "_f16", gemm, F, half)              \
    INSTANTIATE("gemm_large_" format "_f32", gemm_large, F, float) \
    INSTANTIATE("gemm_large_" format "_f16", gemm_large, F, half)

ALL_FORMATS(INSTANTIATE_GEMM)
