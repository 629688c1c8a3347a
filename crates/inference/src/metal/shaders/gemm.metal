// gemm: y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n]), many vectors against a matrix of any format.
//
// For devices with matrix units: simdgroup matrices of 8 × 8. A threadgroup computes SIZE × SIZE results, in steps of
// 64 bytes of each vector, of which each half has a buffer in threadgroup memory. In each half of a step, a simdgroup
//
//   1. waits until all have stored the next half;
//   2. loads its matrices of the next half, VECTORS of x and 32 rows of W. They arrive while
//   3. it multiplies those of this half. A matrix of x is used four times, one of W VECTORS / 8 times;
//   4. stores its pieces of 16 bytes of the half after next, which it has in registers, over this half: all simdgroups
//      have loaded their matrices of it. W is dequantized here, or when it was loaded;
//   5. loads these pieces of the step AHEAD steps later.
//
// Threadgroup memory has W as [n][k] and x as [m][k]. Rows are 16 bytes longer than they need to be: then the pieces of
// eight adjacent rows lie in different banks. Tiles of halves are already columns of 32 rows; they stay so, as [k][n].
//
//     gemm         SIZE 64: 2 × 2 simdgroups, 32 vectors each
//     gemm_large   SIZE 128: 2 × 4 simdgroups, 64 vectors each; half as many bytes of threadgroup memory per product, but
//                  only large products have enough tiles for all cores of a GPU
//
// With WIDE, a simdgroup has 16 vectors and all rows of the tile, so that all simdgroups multiply with the same matrices of
// W: for GPUs that take those from threadgroup memory themselves (wgmma). Threadgroup memory then has two whole steps, each
// matrix in one piece. While a step is multiplied, the next one is stored.
//
// Staged numbers have the type of the activations, or half with ROUNDED, for which GPUs have faster units: numbers that half
// cannot express become the largest that it can. With HALF_X, x has been rounded so before. Sums are float.
//
// buffers  0 w device const uchar: N × K of the format F, `blocks` or `tiles`   1 x device const T [M, K], or half with
//          HALF_X, aligned to 16 bytes   2 y device T [M, N]   3 bias device const float [N], with BIAS   4 residual device const T [M, N],
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
constant bool HALF_X [[function_constant(36)]];
constant uint AHEAD [[function_constant(37)]]; // steps that a thread loads ahead: 1, 2 or 4, a divisor of all
constant bool WIDE [[function_constant(38)]];  // needs halves in threadgroup memory, and an even AHEAD

// Vectors and rows of a threadgroup's tile, and vectors and rows of a simdgroup's part of it.
constant constexpr uint GEMM_SIZE = 64, GEMM_VECTORS = 32;
constant constexpr uint GEMM_LARGE_SIZE = 128, GEMM_LARGE_VECTORS = 64;
constant constexpr uint GEMM_ROWS = 32;
constant constexpr uint GEMM_WIDE_VECTORS = 16;

constant constexpr uint PIECE = 16;       // bytes that a thread copies at a time
constant constexpr uint STEP_BYTES = 64;  // of a vector in a step
constant constexpr uint HALVES = 2;       // of a step, of two pieces each
constant constexpr uint ROW_PIECES = 3;   // of a row in threadgroup memory; the last one is not used

// With WIDE, the pieces from one matrix of W to the next, of which the last is not used, and those that are not used after the
// vectors of eight columns: then eight adjacent threads store to different banks.
constant constexpr uint WIDE_MATRIX = 9, WIDE_GAP = 2;

// Pieces of two steps in threadgroup memory with WIDE.
constexpr uint wide_pieces(uint size) {
    return 2 * (STEP_BYTES / PIECE) * (size / 8 * WIDE_MATRIX + size + WIDE_GAP);
}

struct GemmParams {
    uint n; // rows of the matrix
    uint m; // vectors
};

// The pieces of W that a thread stages in a step: one in each half of it, of 16 / sizeof(S) columns of a row, or of eight rows
// of a column.
struct WeightPlace {
    uint tile;
    uint lane;
    uint last;  // row of the matrix
    uint piece; // of each half: 0 or 1

    Row row() const {
        return Row{tile, TILED ? lane : min(lane, last - tile * TILE_ROWS)};
    }
};

// Weights as they are loaded, and what becomes of them. By default, they are dequantized at once.
template <typename F, typename S>
struct Weights {
    static constant constexpr bool BY_HALVES = false; // loads each half of a step by itself
    static constant constexpr uint WIDTH = PIECE / sizeof(S);
    static bool by_columns() {
        return false;
    }
    uint4 pieces[HALVES];

    static uint4 decoded(BlockUnits block, uint first, float) {
        return as_type<uint4>(dequantize<F>(block, first));
    }
    static uint4 decoded(BlockUnits block, uint first, half) {
        half4 low = half4(dequantize<F>(block, first)), high = half4(dequantize<F>(block, first + 4));
        return uint4(as_type<uint2>(low), as_type<uint2>(high));
    }
    void load(device const uchar* w, WeightPlace place, uint k, uint) {
        for (uint h = 0; h < HALVES; h++) {
            uint column = k + (2 * h + place.piece) * WIDTH;
            BlockUnits block = block_units<F>(w, K, place.row(), column / F::BLOCK);
            pieces[h] = decoded(block, column % F::BLOCK, S(0));
        }
    }
    uint4 piece(uint h) const {
        return pieces[h];
    }
};

// The column, of eight, of which four lanes have 32 rows; such that eight lanes store to different banks.
inline uint own_column(uint lane) {
    return lane / 8 + lane / 4 % 2 * 4;
}

// Halves need no conversion. In tiles, a piece is eight rows of a column.
template <>
struct Weights<Plain<half>, half> {
    static constant constexpr bool BY_HALVES = true;
    static bool by_columns() {
        return TILED;
    }
    uint4 pieces[HALVES];

    void load(device const uchar* w, WeightPlace place, uint k, uint h) {
        uint column = k + (2 * h + place.piece) * 8 + (TILED ? own_column(place.lane) : 0);
        device const uchar* start = block_units<Plain<half>>(w, K, place.row(), column / 32).start;
        if (TILED) {
            pieces[h] = ((device const uint4*)(start + column % 32 * (TILE_ROWS * sizeof(half))))[place.lane % 4];
        } else {
            // Rows of a file may begin anywhere.
            device const half* row = (device const half*)start + column % 32;
            half4 low = half4(row[0], row[1], row[2], row[3]), high = half4(row[4], row[5], row[6], row[7]);
            pieces[h] = uint4(as_type<uint2>(low), as_type<uint2>(high));
        }
    }
    uint4 piece(uint h) const {
        return pieces[h];
    }
};

// Both halves of a step are in the same words. They are dequantized when they are needed, in half: 1024 + q is the half that
// has q in its lowest bits, and all other numbers are exact, too, up to the product.
template <>
struct Weights<q4_0, half> {
    static constant constexpr bool BY_HALVES = false;
    static bool by_columns() {
        return false;
    }
    uint words[2];
    half scale;

    void load(device const uchar* w, WeightPlace place, uint k, uint) {
        BlockUnits block = block_units<q4_0>(w, K, place.row(), k / q4_0::BLOCK);
        for (uint i = 0; i < 2; i++) {
            words[i] = block.word(2 + place.piece * 8 + i * 4);
        }
        scale = half(block.scale(0));
    }
    uint pair(uchar first, uchar second) const {
        return as_type<uint>((as_type<half2>(uchar4(first, 0x64, second, 0x64)) - half2(half(1032.0f))) * half2(scale));
    }
    uint4 piece(uint h) const {
        uchar4 low = as_type<uchar4>(words[0] >> 4 * h & 0x0f0f0f0fu), high = as_type<uchar4>(words[1] >> 4 * h & 0x0f0f0f0fu);
        return uint4(pair(low.x, low.y), pair(low.z, low.w), pair(high.x, high.y), pair(high.z, high.w));
    }
};

// As many numbers of a vector of T as a piece has, as they are loaded.
template <typename T, typename S>
struct Numbers {
    uint4 numbers;

    void load(device const T* x) {
        numbers = *(device const uint4*)x;
    }
    uint4 piece() const {
        return numbers;
    }
};

template <>
struct Numbers<float, half> {
    float4 low, high;

    void load(device const float* x) {
        low = *(device const float4*)x;
        high = *(device const float4*)(x + 4);
    }
    static half4 saturated(float4 x) {
        return half4(clamp(x, -65504.0f, 65504.0f));
    }
    uint4 piece() const {
        return uint4(as_type<uint2>(saturated(low)), as_type<uint2>(saturated(high)));
    }
};

// A thread's part of a step: COPIES pieces of W and of the vectors in each half.
template <typename F, typename X, typename S, uint COPIES>
struct Pieces {
    Weights<F, S> weights[COPIES];
    Numbers<X, S> vectors[HALVES][COPIES];
};

// The matrices of a simdgroup's part in half a step.
template <typename S, uint VECTORS, uint ROWS>
struct Operands {
    static constant constexpr uint COUNT = 2 * PIECE / sizeof(S) / 8;
    simdgroup_matrix<S, 8, 8> a[COUNT][VECTORS / 8], b[COUNT][ROWS / 8];

    void take(thread const Operands& other) {
        for (uint c = 0; c < COUNT; c++) {
            for (uint i = 0; i < VECTORS / 8; i++) {
                a[c][i] = other.a[c][i];
            }
            for (uint j = 0; j < ROWS / 8; j++) {
                b[c][j] = other.b[c][j];
            }
        }
    }
};

// The sums of a simdgroup's part.
template <uint VECTORS, uint ROWS>
struct PartSums {
    simdgroup_matrix<float, 8, 8> matrices[VECTORS / 8][ROWS / 8];

    void clear() {
        for (uint i = 0; i < VECTORS / 8; i++) {
            for (uint j = 0; j < ROWS / 8; j++) {
                matrices[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
            }
        }
    }
};

template <typename F, typename X, typename S, uint SIZE, uint VECTORS, uint ROWS>
struct GemmTile {
    static constant constexpr uint STEP = STEP_BYTES / sizeof(S); // columns
    static constant constexpr uint WIDTH = PIECE / sizeof(S);     // columns of a piece
    static constant constexpr uint STRIDE = ROW_PIECES * WIDTH;
    static constant constexpr uint PARTS = SIZE / VECTORS * (SIZE / ROWS);
    static constant constexpr uint THREADS = PARTS * SIMD_WIDTH;
    static constant constexpr uint COPIES = 2 * SIZE / THREADS;
    // Columns of W in threadgroup memory are eight rows longer than they need to be, too.
    static constant constexpr uint COLUMN_STRIDE = SIZE + 8;
    // Of the weights and of the vectors in half a step.
    static constant constexpr uint PIECES = SIZE * ROW_PIECES;
    // With WIDE, pieces of eight columns of W, of the vectors, and of a step.
    static constant constexpr uint WIDE_ROWS = SIZE / 8 * WIDE_MATRIX;
    static constant constexpr uint WIDE_VECTORS = SIZE + WIDE_GAP;
    static constant constexpr uint STAGE = wide_pieces(SIZE) / 2;
    typedef Pieces<F, X, S, COPIES> ThreadPieces;

    device const uchar* w;
    device const X* x;
    uint simdgroup;
    uint lane;
    uint2 first; // vector and row of the tile
    uint n;
    uint m;

    // Two simdgroups stage 32 rows of W: one the first pieces of both halves of a step, the other the second ones. In
    // formats of four bits, such pairs are the two halves of the same words.
    uint tile(uint copy) const {
        return (simdgroup + copy * PARTS) / 2;
    }

    // The row and the piece of it of a thread's copy of the vectors in half a step: two threads for each, in such an order
    // that eight of them store to different banks.
    uint2 vector_piece(uint copy, uint h) const {
        if (WIDE) {
            // Four threads for each row, in a whole step: 64 bytes side by side.
            return uint2(copy * (THREADS / 2) + simdgroup * (SIMD_WIDTH / 2) + h * 8 + lane / 4, lane % 4);
        }
        uint pair = lane / 2, row = pair / 8 * 8 + pair % 4 * 2 + pair / 4 % 2;
        return uint2(copy * (THREADS / 2) + simdgroup * (SIMD_WIDTH / 2) + row, 2 * h + lane % 2);
    }

    void load_weights(thread ThreadPieces& pieces, uint k, uint h) const {
        uint last_tile = (n + TILE_ROWS - 1) / TILE_ROWS - 1;
        for (uint c = 0; c < COPIES; c++) {
            uint own_tile = min(first.y / TILE_ROWS + tile(c), last_tile);
            pieces.weights[c].load(w, WeightPlace{own_tile, lane, n - 1, simdgroup % 2}, k, h);
        }
    }

    // Vectors past the last one repeat it: their results are not stored.
    void load_vectors(thread ThreadPieces& pieces, uint k, uint h) const {
        for (uint c = 0; c < COPIES; c++) {
            uint2 own = vector_piece(c, h);
            uint vector = min(first.x + own.x, m - 1);
            pieces.vectors[h][c].load(x + ulong(vector) * K + k + own.y * WIDTH);
        }
    }

    // Loads the pieces of half a step, or, with the last half, all weights of it.
    void load_half(thread ThreadPieces& pieces, uint k, uint h) const {
        load_vectors(pieces, k, h);
        if (h == HALVES - 1 || Weights<F, S>::BY_HALVES) {
            load_weights(pieces, k, h);
        }
    }

    void load(thread ThreadPieces& pieces, uint k) const {
        for (uint h = 0; h < HALVES; h++) {
            load_half(pieces, k, h);
        }
    }

    void store(thread const ThreadPieces& pieces, uint h, threadgroup uint4* to) const {
        for (uint c = 0; c < COPIES; c++) {
            uint2 own = vector_piece(c, h);
            uint piece = simdgroup % 2;
            to[PIECES + own.x * ROW_PIECES + own.y % 2] = pieces.vectors[h][c].piece();
            uint place = (tile(c) * TILE_ROWS + lane) * ROW_PIECES + piece;
            if (Weights<F, S>::by_columns()) {
                place = (piece * 8 + own_column(lane)) * (COLUMN_STRIDE / 8) + tile(c) * 4 + lane % 4;
            }
            to[place] = pieces.weights[c].piece(h);
        }
    }

    // Stores a whole step: for each eight columns the matrices of W, then for each eight those of the vectors.
    void store_wide(thread const ThreadPieces& pieces, threadgroup uint4* to) const {
        for (uint h = 0; h < HALVES; h++) {
            for (uint c = 0; c < COPIES; c++) {
                uint2 own = vector_piece(c, h);
                to[STEP / 8 * WIDE_ROWS + own.y * WIDE_VECTORS + own.x] = pieces.vectors[h][c].piece();
                uint matrix = tile(c) * 4 + (Weights<F, S>::by_columns() ? lane % 4 : lane / 8);
                uint piece = Weights<F, S>::by_columns() ? own_column(lane) : lane % 8;
                to[(2 * h + simdgroup % 2) * WIDE_ROWS + matrix * WIDE_MATRIX + piece] = pieces.weights[c].piece(h);
            }
        }
    }

    // Adds the products of the stored columns c to c + 15.
    void multiply_wide(thread PartSums<VECTORS, ROWS>& sums, threadgroup const uint4* from, uint c) const {
        simdgroup_matrix<S, 8, 8> a[2][VECTORS / 8], b[2][ROWS / 8];
        for (uint i = 0; i < 2; i++) {
            threadgroup const S* rows = (threadgroup const S*)(from + (c / 8 + i) * WIDE_ROWS);
            threadgroup const S* vectors =
                (threadgroup const S*)(from + STEP / 8 * WIDE_ROWS + (c / 8 + i) * WIDE_VECTORS + simdgroup * VECTORS);
            for (uint j = 0; j < VECTORS / 8; j++) {
                simdgroup_load(a[i][j], vectors + j * 64, 8);
            }
            for (uint j = 0; j < ROWS / 8; j++) {
                if (Weights<F, S>::by_columns()) {
                    simdgroup_load(b[i][j], rows + j * WIDE_MATRIX * 8, 8);
                } else {
                    simdgroup_load(b[i][j], rows + j * WIDE_MATRIX * 8, 8, ulong2(0, 0), true);
                }
            }
        }
        for (uint i = 0; i < VECTORS / 8; i++) {
            for (uint j = 0; j < ROWS / 8; j++) {
                for (uint k = 0; k < 2; k++) {
                    simdgroup_multiply_accumulate(sums.matrices[i][j], a[k][i], b[k][j], sums.matrices[i][j]);
                }
            }
        }
    }

    void load_operands(thread Operands<S, VECTORS, ROWS>& operands, threadgroup const uint4* from, uint2 part) const {
        threadgroup const S* a = (threadgroup const S*)(from + PIECES) + part.x * STRIDE;
        for (uint c = 0; c < Operands<S, VECTORS, ROWS>::COUNT; c++) {
            for (uint i = 0; i < VECTORS / 8; i++) {
                simdgroup_load(operands.a[c][i], a + i * 8 * STRIDE + c * 8, STRIDE);
            }
            for (uint j = 0; j < ROWS / 8; j++) {
                if (Weights<F, S>::by_columns()) {
                    threadgroup const S* b = (threadgroup const S*)from + part.y;
                    simdgroup_load(operands.b[c][j], b + c * 8 * COLUMN_STRIDE + j * 8, COLUMN_STRIDE);
                } else {
                    threadgroup const S* b = (threadgroup const S*)from + part.y * STRIDE;
                    simdgroup_load(operands.b[c][j], b + j * 8 * STRIDE + c * 8, STRIDE, ulong2(0, 0), true);
                }
            }
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

// Stores a simdgroup's part, `part` after the tile's `first` vector and row.
template <uint VECTORS, uint ROWS, typename T>
inline void store_results(Product<T> product, thread const PartSums<VECTORS, ROWS>& sums, threadgroup uint4* staged,
                          uint2 first, uint2 part) {
    // Results go through threadgroup memory, eight vectors and 32 rows at a time: there, every thread knows the row and
    // column of its results.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup float* results = (threadgroup float*)staged + product.simdgroup * 8 * TILE_ROWS;
    for (uint r = 0; r < ROWS / TILE_ROWS; r++) {
        uint n = first.y + part.y + r * TILE_ROWS + product.lane;
        float added = BIAS && n < product.p.n ? product.bias[n] : 0.0f;
        for (uint i = 0; i < VECTORS / 8; i++) {
            for (uint j = 0; j < TILE_ROWS / 8; j++) {
                simdgroup_store(sums.matrices[i][r * (TILE_ROWS / 8) + j], results + j * 8, TILE_ROWS);
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            for (uint v = 0; v < 8; v++) {
                uint m = first.x + part.x + 8 * i + v;
                if (n < product.p.n && m < product.p.m) {
                    ulong at = ulong(m) * product.p.n + n;
                    float sum = results[v * TILE_ROWS + product.lane] + added;
                    product.y[at] = T(sum + (RESIDUAL ? float(product.residual[at]) : 0.0f));
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
}

// `staged` has room for two halves of a step.
template <typename F, typename X, typename S, uint SIZE, uint VECTORS, uint ROWS, uint DEPTH, typename T>
inline void multiply_tile(Product<T> product, threadgroup uint4* staged) {
    uint2 group = product.group;
    uint simdgroup = product.simdgroup, lane = product.lane;
    GemmParams p = product.p;
    typedef GemmTile<F, X, S, SIZE, VECTORS, ROWS> Tile;
    uint2 first = group * SIZE;
    Tile source = {product.w, (device const X*)product.x, simdgroup, lane, first, p.n, p.m};

    // The part of this simdgroup.
    uint2 part = uint2(simdgroup % (SIZE / VECTORS) * VECTORS, simdgroup / (SIZE / VECTORS) * ROWS);
    PartSums<VECTORS, ROWS> sums;
    sums.clear();
    // The pieces of step s are in slot s % DEPTH. The last steps load pieces again, for nothing.
    typename Tile::ThreadPieces slots[DEPTH];
    for (uint s = 0; s < DEPTH; s++) {
        source.load(slots[s], min(s * Tile::STEP, K - Tile::STEP));
    }
    for (uint h = 0; h < HALVES; h++) {
        source.store(slots[0], h, staged + h * 2 * Tile::PIECES);
    }
    source.load(slots[0], min(DEPTH * Tile::STEP, K - Tile::STEP));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    Operands<S, VECTORS, ROWS> operands;
    source.load_operands(operands, staged, part);
#pragma clang loop unroll(disable)
    for (uint k = 0; k < K; k += DEPTH * Tile::STEP) {
        for (uint s = 0; s < DEPTH; s++) {
            uint later = min(k + (s + 1 + DEPTH) * Tile::STEP, K - Tile::STEP);
            for (uint h = 0; h < HALVES; h++) {
                threadgroup_barrier(mem_flags::mem_threadgroup);
                source.store(slots[(s + 1) % DEPTH], h, staged + h * 2 * Tile::PIECES);
                source.load_half(slots[(s + 1) % DEPTH], later, h);
                Operands<S, VECTORS, ROWS> following;
                source.load_operands(following, staged + (1 - h) * 2 * Tile::PIECES, part);
                for (uint i = 0; i < VECTORS / 8; i++) {
                    for (uint j = 0; j < ROWS / 8; j++) {
                        for (uint c = 0; c < Operands<S, VECTORS, ROWS>::COUNT; c++) {
                            thread simdgroup_matrix<float, 8, 8>& sum = sums.matrices[i][j];
                            simdgroup_multiply_accumulate(sum, operands.a[c][i], operands.b[c][j], sum);
                        }
                    }
                }
                operands.take(following);
            }
        }
    }
    store_results(product, sums, staged, first, part);
}

// The same with WIDE. `staged` has room for two steps.
template <typename F, typename X, uint SIZE, uint DEPTH, typename T>
inline void multiply_wide_tile(Product<T> product, threadgroup uint4* staged) {
    typedef GemmTile<F, X, half, SIZE, GEMM_WIDE_VECTORS, SIZE> Tile;
    GemmParams p = product.p;
    uint2 first = product.group * SIZE, part = uint2(product.simdgroup * GEMM_WIDE_VECTORS, 0);
    Tile source = {product.w, (device const X*)product.x, product.simdgroup, product.lane, first, p.n, p.m};
    PartSums<GEMM_WIDE_VECTORS, SIZE> sums;
    sums.clear();
    typename Tile::ThreadPieces slots[DEPTH];
    for (uint s = 0; s < DEPTH; s++) {
        source.load(slots[s], min(s * Tile::STEP, K - Tile::STEP));
    }
    source.store_wide(slots[0], staged);
    source.load(slots[0], min(DEPTH * Tile::STEP, K - Tile::STEP));
#pragma clang loop unroll(disable)
    for (uint k = 0; k < K; k += DEPTH * Tile::STEP) {
        for (uint s = 0; s < DEPTH; s++) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint c = 0; c < Tile::STEP; c += 16) {
                source.multiply_wide(sums, staged + s % 2 * Tile::STAGE, c);
            }
            source.store_wide(slots[(s + 1) % DEPTH], staged + (s + 1) % 2 * Tile::STAGE);
            source.load(slots[(s + 1) % DEPTH], min(k + (s + 1 + DEPTH) * Tile::STEP, K - Tile::STEP));
        }
    }
    store_results(product, sums, staged, first, part);
}

template <typename F, typename X, typename S, uint SIZE, uint VECTORS, uint ROWS, typename T>
inline void multiply(Product<T> product, threadgroup uint4* staged) {
    if (WIDE) {
        if (AHEAD == 4) {
            multiply_wide_tile<F, X, SIZE, 4>(product, staged);
        } else {
            multiply_wide_tile<F, X, SIZE, 2>(product, staged);
        }
    } else if (AHEAD == 4) {
        multiply_tile<F, X, S, SIZE, VECTORS, ROWS, 4>(product, staged);
    } else if (AHEAD == 2) {
        multiply_tile<F, X, S, SIZE, VECTORS, ROWS, 2>(product, staged);
    } else {
        multiply_tile<F, X, S, SIZE, VECTORS, ROWS, 1>(product, staged);
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
    // A kernel has one of them.
    threadgroup uint4 halves[HALVES * 2 * GEMM_SIZE * ROW_PIECES];
    threadgroup uint4 steps[wide_pieces(GEMM_SIZE)];
    threadgroup uint4* staged = WIDE ? steps : halves;
    Product<T> product = {w, x, y, BIAS ? bias : nullptr, RESIDUAL ? residual : nullptr, GemmParams{p.n, p.m}, group, simdgroup, lane};
    if (EXPERTS) {
        ExpertTile tile = load_tile(tiles, group.x);
        if (tile.count == 0) {
            return;
        }
        select_expert<F>(product, tile);
    }
    if (ROUNDED && HALF_X) {
        multiply<F, half, half, GEMM_SIZE, GEMM_VECTORS, GEMM_ROWS>(product, staged);
    } else if (ROUNDED) {
        multiply<F, T, half, GEMM_SIZE, GEMM_VECTORS, GEMM_ROWS>(product, staged);
    } else {
        multiply<F, T, T, GEMM_SIZE, GEMM_VECTORS, GEMM_ROWS>(product, staged);
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
    // The second one is for GPUs with more than 32 KiB.
    threadgroup uint4 halves[HALVES * 2 * GEMM_LARGE_SIZE * ROW_PIECES];
    threadgroup uint4 steps[wide_pieces(GEMM_LARGE_SIZE)];
    threadgroup uint4* staged = WIDE ? steps : halves;
    Product<T> product = {w, x, y, BIAS ? bias : nullptr, RESIDUAL ? residual : nullptr, GemmParams{p.n, p.m}, group, simdgroup, lane};
    if (EXPERTS) {
        ExpertTile tile = load_tile(tiles, group.x);
        if (tile.count == 0) {
            return;
        }
        select_expert<F>(product, tile);
    }
    if (ROUNDED && HALF_X) {
        multiply<F, half, half, GEMM_LARGE_SIZE, GEMM_LARGE_VECTORS, GEMM_ROWS>(product, staged);
    } else if (ROUNDED) {
        multiply<F, T, half, GEMM_LARGE_SIZE, GEMM_LARGE_VECTORS, GEMM_ROWS>(product, staged);
    } else {
        multiply<F, T, T, GEMM_LARGE_SIZE, GEMM_LARGE_VECTORS, GEMM_ROWS>(product, staged);
    }
}

#define INSTANTIATE_GEMM(format, F)                                \
    INSTANTIATE("gemm_" format "_f32", gemm, F, float)             \
    INSTANTIATE("gemm_" format "_f16", gemm, F, half)              \
    INSTANTIATE("gemm_large_" format "_f32", gemm_large, F, float) \
    INSTANTIATE("gemm_large_" format "_f16", gemm_large, F, half)

ALL_FORMATS(INSTANTIATE_GEMM)
