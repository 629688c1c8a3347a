// Products of a few vectors with a matrix of quantized blocks, one row of the matrix per lane.
//
// Lanes are rows and not columns, because then the vector is the same for all lanes: a CPU reads it from memory as the
// broadcast operand of a multiply-add, a GPU from threadgroup memory without a bank conflict; each lane has one scale,
// and no sum crosses lanes. In the layout `tiles` every load of weights is 32 adjacent words.
//
// The simdgroups of a threadgroup share the rows and split K into chunks. With enough threadgroups, as on a CPU, one
// simdgroup does all the work (SPLIT = 1), and there is no barrier. A chunk of the vectors is staged in threadgroup
// memory as float, with its sums by group.
//
// Vectors may be packed (packed.metal): then bytes are multiplied, 64 by one instruction of a CPU, and nothing is staged.
// Weights of SPAN columns stay in registers for all vectors.
#ifndef METALWORKS_GEMV_METAL
#define METALWORKS_GEMV_METAL

#include "common.metal"
#include "expert_tiles.metal"
#include "packed.metal"
#include "quantize.metal"

constant uint K [[function_constant(20)]];     // columns of the matrix, length of a vector
constant uint BATCH [[function_constant(21)]]; // vectors that a threadgroup takes at a time: 1 to 16
constant uint SPLIT [[function_constant(22)]]; // simdgroups in a threadgroup: 1 to 32
constant uint CHUNK [[function_constant(23)]]; // columns that a simdgroup stages at a time: a multiple of 32
constant uint CHUNK_SUMS = CHUNK / 16;

constant bool PACKED_X [[function_constant(30)]]; // the vectors are packed: of formats that are not plain
constant bool NUMBERS_X = !PACKED_X;

// Weights of 16 bits and vectors are rounded to bfloat, and multiplied in pairs: some CPUs have an instruction for it.
constant bool PAIRS [[function_constant(39)]];

constant constexpr uint MAX_BATCH = 16;
constant constexpr uint MAX_SPLIT = 32;

// Maximum of staged numbers, BATCH · SPLIT · CHUNK (of packed vectors, BATCH · SPLIT · 32): 4.25 KiB with their sums.
// The memory that a kernel reserves limits the threadgroups that are resident on a GPU core. One simdgroup with eight vectors and long chunks, which suits a
// CPU, and many simdgroups with one vector and short chunks, which suit a GPU, need the same amount.
constant constexpr uint STAGED = 1024;

// Vectors of a threadgroup: numbers, or packed.
template <typename T>
struct Vectors {
    device const T* numbers;
    device const PackedBlock* packed;
    uint first;
    uint count;
};

// Staged vectors of a threadgroup.
struct Stage {
    threadgroup float* x;    // [SPLIT][BATCH][CHUNK]
    threadgroup float* sums; // [SPLIT][BATCH][CHUNK_SUMS]
};

// Stages the columns from `first` on of `rows` vectors, and their sums by groups of GROUP.
template <uint GROUP, typename T>
inline void stage_chunk(device const T* x, uint rows, uint first, Stage stage, uint lane) {
    for (uint m = 0; m < BATCH; m++) {
        for (uint i = 0; i < min(CHUNK, K - first); i += 32) {
            float value = m < rows ? float(x[ulong(m) * K + first + i + lane]) : 0.0f;
            stage.x[m * CHUNK + i + lane] = value;
            if (BATCH <= 2) {
                float total = simd_sum(value);
                if (GROUP == 32) {
                    stage.sums[m * CHUNK_SUMS + i / 32] = total;
                } else {
                    float low = simd_sum(lane < 16 ? value : 0.0f);
                    stage.sums[m * CHUNK_SUMS + i / 16] = low;
                    stage.sums[m * CHUNK_SUMS + i / 16 + 1] = total - low;
                }
            }
        }
    }
}

// Stages the columns from `first` on of `rows` vectors, in pairs.
template <typename T>
inline void stage_pairs(device const T* x, uint rows, uint first, threadgroup uint* pairs, uint lane) {
    for (uint m = 0; m < BATCH; m++) {
        for (uint i = 0; i < min(CHUNK, K - first); i += 64) {
            uint column = i + 2 * lane;
            if (first + column < K) {
                device const T* numbers = x + ulong(m) * K + first + column;
                pairs[m * (CHUNK / 2) + column / 2] = m < rows ? bfloat_pair(float(numbers[0]), float(numbers[1])) : 0;
            }
        }
    }
}

// result[m] += a row's staged columns, from `first` on, times the staged pairs. One pair of weights for all vectors at a
// time, so that the sums stay in registers.
template <typename T>
inline void multiply_pairs(Plain<T>, device const uchar* w, Row row, uint first, threadgroup const uint* pairs,
                           thread float* result) {
    for (uint column = 0; column < min(CHUNK, K - first); column += 32) {
        BlockUnits block = block_units<Plain<T>>(w, K, row, (first + column) / 32);
        threadgroup const uint* columns = pairs + column / 2;
#pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            uint weights = bfloat_pair(Plain<T>::number(block, 2 * i), Plain<T>::number(block, 2 * i + 1));
            for (uint m = 0; m < BATCH; m++) {
                result[m] = dot_pair(weights, columns[m * (CHUNK / 2) + i], result[m]);
            }
        }
    }
}

// Quantized weights have no pairs.
template <typename F>
inline void multiply_pairs(Quantized<F>, device const uchar*, Row, uint, threadgroup const uint*, thread float*) {}

// result[m] += group g of a block times the staged vectors from `column` on.
template <typename F>
inline void multiply_group(BlockUnits block, uint g, Stage stage, uint column, thread float* result) {
    float2 affine = F::affine(block, g);
    if (BATCH <= 2) {
        // Four sums at a time, so that no addition waits for the previous one; the offset is applied once, times the
        // sum of x. Not unrolled any further: then each load instruction would step by a whole block, and the
        // prefetcher would not follow. From memory, F32 would stream at 10 instead of 32 GB/s, F16 at 18 instead of 33,
        // Q8_0 at 15 instead of 21.
        float4 sums[2] = {float4(0.0f), float4(0.0f)};
        for (uint i = 0; i < F::GROUP / 4; i++) {
            float4 v = F::values(block, g, i);
            for (uint m = 0; m < BATCH; m++) {
                threadgroup const float* x = stage.x + m * CHUNK + column + 4 * i;
                sums[m] += v * float4(x[0], x[1], x[2], x[3]);
            }
        }
        for (uint m = 0; m < BATCH; m++) {
            float sum = (sums[m].x + sums[m].y) + (sums[m].z + sums[m].w);
            result[m] += affine.x * sum + affine.y * stage.sums[m * CHUNK_SUMS + column / F::GROUP];
        }
    } else {
        // With many vectors it is cheaper to apply scale and offset to the weights.
        for (uint i = 0; i < F::GROUP / 4; i++) {
            float4 weights = affine.x * F::values(block, g, i) + affine.y;
            for (uint m = 0; m < BATCH; m++) {
                threadgroup const float* x = stage.x + m * CHUNK + column + 4 * i;
                result[m] += weights.x * x[0] + weights.y * x[1] + weights.z * x[2] + weights.w * x[3];
            }
        }
    }
}

// result[m] += a row's staged columns, from `first` on, times the staged vectors.
template <typename F>
inline void multiply_groups(device const uchar* w, Row row, uint first, Stage stage, thread float* result) {
    for (uint column = 0; column < min(CHUNK, K - first); column += F::GROUP) {
        BlockUnits block = block_units<F>(w, K, row, (first + column) / F::BLOCK);
        multiply_group<F>(block, (first + column) % F::BLOCK / F::GROUP, stage, column, result);
    }
}

template <typename F>
inline void multiply_chunk(device const uchar* w, Row row, uint first, Stage stage, thread float* result) {
    multiply_groups<F>(w, row, first, stage, result);
}

// In Q6_K, a word of upper bits belongs to four groups, and a word of lower bits to two of them. Processing these
// groups together loads each word once, in the order of the block.
template <>
inline void multiply_chunk<q6_K>(device const uchar* w, Row row, uint first, Stage stage, thread float* result) {
    if (CHUNK % 128 != 0 || BATCH > 2) {
        multiply_groups<q6_K>(w, row, first, stage, result);
        return;
    }
    for (uint column = 0; column < min(CHUNK, K - first); column += 128) {
        BlockUnits block = block_units<q6_K>(w, K, row, (first + column) / q6_K::BLOCK);
        uint half_block = (first + column) % q6_K::BLOCK / 128;
        for (uint part = 0; part < 2; part++) {
            constexpr uint QUARTERS = q6_K::TOGETHER / 32;
            float sums[2 * QUARTERS];
            for (uint j = 0; j < BATCH * QUARTERS; j++) {
                sums[j] = 0.0f;
            }
            for (uint i = 0; i < q6_K::GROUP / 4; i++) {
                uint q[QUARTERS];
                q6_K::bytes_together(block, half_block, 16 * part + 4 * i, q);
                for (uint m = 0; m < BATCH; m++) {
                    for (uint r = 0; r < QUARTERS; r++) {
                        threadgroup const float* x = stage.x + m * CHUNK + column + 32 * r + 16 * part + 4 * i;
                        float4 v = unit_floats(q[r], 0, q6_K::BITS);
                        sums[m * QUARTERS + r] += v.x * x[0] + v.y * x[1] + v.z * x[2] + v.w * x[3];
                    }
                }
            }
            for (uint r = 0; r < QUARTERS; r++) {
                float2 affine = q6_K::affine(block, 8 * half_block + 2 * r + part);
                for (uint m = 0; m < BATCH; m++) {
                    float total = stage.sums[m * CHUNK_SUMS + column / 16 + 2 * r + part];
                    result[m] += affine.x * sums[m * QUARTERS + r] + affine.y * total;
                }
            }
        }
    }
}

// A packed block. A CPU reads its parts from memory as operands, a GPU loads it 16 bytes at a time.
struct PackedVector {
    device const PackedBlock* block;
    // Its scale, its sums, and its bytes, for a GPU.
    uint words[4 + PACKED_NUMBERS / 4];

    float scale() const {
        return SPLIT > 1 ? as_type<float>(words[0]) : block->scale;
    }
    float scaled_sum() const {
        return SPLIT > 1 ? as_type<float>(words[1]) : block->scaled_sum;
    }
    int low_sum() const {
        return SPLIT > 1 ? as_type<int>(words[2]) : block->low_sum;
    }
    int high_sum() const {
        return SPLIT > 1 ? as_type<int>(words[3]) : block->high_sum;
    }
    uint word(uint at) const {
        return SPLIT > 1 ? words[4 + at] : block->q[at];
    }
};

inline PackedVector packed_vector(device const PackedBlock* block) {
    PackedVector vector;
    vector.block = block;
    if (SPLIT > 1) {
        device const uint4* parts = (device const uint4*)block;
        for (uint i = 0; i < 1 + PACKED_NUMBERS / 16; i++) {
            uint4 part = parts[i];
            vector.words[4 * i] = part.x;
            vector.words[4 * i + 1] = part.y;
            vector.words[4 * i + 2] = part.z;
            vector.words[4 * i + 3] = part.w;
        }
    }
    return vector;
}

// Products of the 32 columns of a packed block with the weights of groups g, … of a block. WHOLE: there are BATCH
// vectors, at equal distances. Then the products of all of them with the same weights are a product of matrices, for
// which a CPU may have an instruction.
template <bool WHOLE, typename F>
inline void multiply_bytes(F, BlockUnits block, uint g, device const PackedBlock* x, uint count, thread float* result) {
    uint weights[PACKED_NUMBERS / 4];
    for (uint i = 0; i < PACKED_NUMBERS / 4; i++) {
        weights[i] = F::bytes(block, g + 4 * i / F::GROUP, i % (F::GROUP / 4));
    }
    // Four chains of additions on a CPU with registers of 16 lanes: two vectors, or the even and odd words of one.
    constexpr uint CHAINS = 2;
    uint step = min(BATCH, CHAINS), ways = CHAINS / step;
    // With many vectors, the center is an offset like any other: a vector's sum is then one number from memory.
    constexpr bool CENTER_IS_OFFSET = WHOLE && F::CENTER != 0;
    for (uint first = 0; first < BATCH; first += step) {
        for (uint part = 0; part < PACKED_NUMBERS / F::GROUP; part++) {
            float2 scales = F::scales(block, g + part);
            float offset = CENTER_IS_OFFSET ? -float(F::CENTER) * scales.x : scales.y;
            PackedVector packed[CHAINS];
            int sums[CHAINS];
            for (uint m = 0; m < step; m++) {
                // Past the end, the last vector is multiplied again.
                uint vector = WHOLE ? first + m : min(first + m, count - 1);
                packed[m] = packed_vector(x + ulong(vector) * (K / PACKED_NUMBERS));
                int low = packed[m].low_sum(), high = packed[m].high_sum();
                int total = F::GROUP == PACKED_NUMBERS ? low + high : part == 0 ? low : high;
                sums[m] = CENTER_IS_OFFSET ? 0 : -int(F::CENTER) * total;
            }
            sums[CHAINS - 1] = ways == 1 ? sums[CHAINS - 1] : 0;
            for (uint i = 0; i < F::GROUP / 4; i++) {
                uint at = part * (F::GROUP / 4) + i;
                for (uint m = 0; m < step; m++) {
                    uint chain = ways == 1 ? m : i % CHAINS;
                    sums[chain] = dot_bytes(weights[at], packed[m].word(at), sums[chain]);
                }
            }
            for (uint m = 0; m < step; m++) {
                int sum = ways == 1 ? sums[m] : sums[0] + sums[1];
                result[first + m] += scales.x * float(sum) * packed[m].scale();
                // Formats with a center have no offset.
                if (F::GROUP == PACKED_NUMBERS && (F::CENTER == 0 || CENTER_IS_OFFSET)) {
                    result[first + m] += offset * packed[m].scaled_sum();
                } else if (F::CENTER == 0) {
                    int part_sum = part == 0 ? packed[m].low_sum() : packed[m].high_sum();
                    result[first + m] += offset * packed[m].scale() * float(part_sum);
                }
            }
        }
    }
}

// Plain numbers are no bytes: no operation packs their vectors.
template <bool WHOLE, typename T>
inline void multiply_bytes(Plain<T>, BlockUnits, uint, device const PackedBlock*, uint, thread float*) {}

// result[m] += SPAN columns of a block, from `column` of the row on, times packed vectors.
template <bool WHOLE, typename F>
inline void multiply_span(BlockUnits block, uint column, uint span, device const PackedBlock* x, uint count,
                          thread float* result) {
    uint group = column % F::BLOCK / F::GROUP;
#pragma clang loop unroll(full)
    for (uint part = 0; part < span / PACKED_NUMBERS; part++) {
        multiply_bytes<WHOLE>(F(), block, group + part * (PACKED_NUMBERS / F::GROUP),
                              x + column / PACKED_NUMBERS + part, count, result);
    }
}

// result += the n-th TOGETHER columns of a block times a packed vector. Each word of weights is loaded once, in the order of
// the tile: the prefetchers of some CPUs follow no other.
template <typename F>
inline void multiply_together(F, BlockUnits block, uint n, device const PackedBlock* x, thread float& result) {
    constexpr uint BLOCKS = F::TOGETHER / PACKED_NUMBERS, PARTS = PACKED_NUMBERS / F::GROUP;
#pragma clang loop unroll(full)
    for (uint part = 0; part < PARTS; part++) {
        float2 scales[BLOCKS];
        int totals[BLOCKS], sums[BLOCKS];
        for (uint r = 0; r < BLOCKS; r++) {
            scales[r] = F::scales(block, (n * BLOCKS + r) * PARTS + part);
            totals[r] = PARTS == 1 ? x[r].low_sum + x[r].high_sum : part == 0 ? x[r].low_sum : x[r].high_sum;
            sums[r] = -int(F::CENTER) * totals[r];
        }
#pragma clang loop unroll(full)
        for (uint i = 0; i < F::GROUP / 4; i++) {
            uint q[BLOCKS], column = part * F::GROUP + 4 * i;
            F::bytes_together(block, n, column, q);
            for (uint r = 0; r < BLOCKS; r++) {
                sums[r] = dot_bytes(q[r], x[r].q[column / 4], sums[r]);
            }
        }
        for (uint r = 0; r < BLOCKS; r++) {
            result += scales[r].x * float(sums[r]) * x[r].scale;
            // Formats with a center have no offset.
            if (F::CENTER == 0) {
                result += scales[r].y * (PARTS == 1 ? x[r].scaled_sum : x[r].scale * float(totals[r]));
            }
        }
    }
}

// Plain numbers are no bytes.
template <typename T>
inline void multiply_together(Plain<T>, BlockUnits, uint, device const PackedBlock*, thread float&) {}

// result[m] += a row's columns `first` … `first` + CHUNK times packed vectors.
template <bool WHOLE, typename F>
inline void multiply_packed(device const uchar* w, Row row, uint first, device const PackedBlock* x, uint count,
                            thread float* result) {
    uint span = CHUNK % F::SPAN == 0 ? F::SPAN : PACKED_NUMBERS, end = min(first + CHUNK, K);
    if (CHUNK % F::BLOCK != 0) {
        for (uint column = first; column < end; column += span) {
            BlockUnits block = block_units<F>(w, K, row, column / F::BLOCK);
            multiply_span<WHOLE, F>(block, column, span, x, count, result);
        }
    } else if (BATCH == 1) {
        // A block at a time: all shifts are known, and what the groups share is loaded once.
        for (uint column = first; column < end; column += F::BLOCK) {
            BlockUnits block = block_units<F>(w, K, row, column / F::BLOCK);
            if (F::TOGETHER > PACKED_NUMBERS) {
#pragma clang loop unroll(full)
                for (uint n = 0; n < F::BLOCK / F::TOGETHER; n++) {
                    multiply_together(F(), block, n, x + (column + n * F::TOGETHER) / PACKED_NUMBERS, result[0]);
                }
                continue;
            }
#pragma clang loop unroll(full)
            for (uint within = 0; within < F::BLOCK; within += F::SPAN) {
                multiply_span<WHOLE, F>(block, within, F::SPAN, x + column / PACKED_NUMBERS, count, result);
            }
        }
    } else {
        // Within blocks, so that a compiler sees the steps from address to address.
        for (uint column = first; column < end; column += F::BLOCK) {
            BlockUnits block = block_units<F>(w, K, row, column / F::BLOCK);
#pragma clang loop unroll(disable)
            for (uint within = 0; within < F::BLOCK; within += F::SPAN) {
                multiply_span<WHOLE, F>(block, within, F::SPAN, x + column / PACKED_NUMBERS, count, result);
            }
        }
    }
}

// result[m] += the 32 columns of a row's piece times packed vectors.
template <typename F>
inline void multiply_piece(device const uchar* w, Row row, uint piece, device const PackedBlock* x, uint count,
                            thread float* result) {
    BlockUnits block = block_units<F>(w, K, row, piece * PACKED_NUMBERS / F::BLOCK);
    uint group = piece * PACKED_NUMBERS % F::BLOCK / F::GROUP;
    multiply_bytes<false>(F(), block, group, x + piece, count, result);
}

// A simdgroup takes every SPLIT-th piece: WHOLE_PIECES of them, and the first REST_PIECES simdgroups one more. Their number
// is the same for all simdgroups, so that a GPU has the weights of many pieces in flight together.
constant uint PIECES = K / PACKED_NUMBERS;
constant uint WHOLE_PIECES = PIECES / SPLIT;
constant uint REST_PIECES = PIECES % SPLIT;

// The last piece of a simdgroup, if it has one more than others. Those without multiply the matrix's last piece, so that
// no load waits for a branch.
inline uint last_piece(uint simdgroup) {
    return min(WHOLE_PIECES * SPLIT + simdgroup, PIECES - 1);
}

// One matrix, or two of the same shape whose results are side by side.
template <typename F, uint COUNT>
inline void multiply_all_pieces(device const uchar* const thread* w, Row row, device const PackedBlock* x, uint count,
                                uint simdgroup, thread float* result) {
    // The first pieces are not in a loop, so that they can be loaded before the vectors are known.
    uint first = min(WHOLE_PIECES, 8 / COUNT);
#pragma clang loop unroll(full)
    for (uint i = 0; i < first; i++) {
        for (uint j = 0; j < COUNT; j++) {
            multiply_piece<F>(w[j], row, i * SPLIT + simdgroup, x, count, result + j * MAX_BATCH);
        }
    }
#pragma clang loop unroll_count(4 / COUNT)
    for (uint i = first; i < WHOLE_PIECES; i++) {
        for (uint j = 0; j < COUNT; j++) {
            multiply_piece<F>(w[j], row, i * SPLIT + simdgroup, x, count, result + j * MAX_BATCH);
        }
    }
    if (REST_PIECES > 0) {
        for (uint j = 0; j < COUNT; j++) {
            float more[MAX_BATCH];
            for (uint m = 0; m < BATCH; m++) {
                more[m] = 0.0f;
            }
            multiply_piece<F>(w[j], row, last_piece(simdgroup), x, count, more);
            for (uint m = 0; m < BATCH; m++) {
                result[j * MAX_BATCH + m] += simdgroup < REST_PIECES ? more[m] : 0.0f;
            }
        }
    }
}

// Adds the results of all simdgroups; the sum is complete in simdgroup 0 only. IN_USE: simdgroups may still read from the
// stage.
template <bool IN_USE>
inline void join(Stage stage, ThreadPosition position, thread float* result) {
    if (IN_USE) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint m = 0; m < BATCH; m++) {
        stage.x[(position.simdgroup * BATCH + m) * 32 + position.lane] = result[m];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (position.simdgroup > 0) {
        return;
    }
    for (uint m = 0; m < BATCH; m++) {
        result[m] = 0.0f;
        for (uint part = 0; part < SPLIT; part++) {
            result[m] += stage.x[(part * BATCH + m) * 32 + position.lane];
        }
    }
}

// result[m] = W[row of this lane] · x[m] for m < x.count; the result is complete in simdgroup 0 only.
template <typename F, typename T>
inline void multiply_rows(device const uchar* w, Row row, Vectors<T> x, Stage stage, ThreadPosition position,
                          thread float* result) {
    for (uint m = 0; m < BATCH; m++) {
        result[m] = 0.0f;
    }
    device const PackedBlock* packed = x.packed + ulong(x.first) * (K / PACKED_NUMBERS);
    device const T* numbers = x.numbers + ulong(x.first) * K;
    if (PACKED_X && SPLIT > 1) {
        device const uchar* const matrices[1] = {w};
        multiply_all_pieces<F, 1>(matrices, row, packed, x.count, position.simdgroup, result);
        join<false>(stage, position, result);
        return;
    }
    if (PACKED_X) {
        for (uint first = 0; first < K; first += CHUNK) {
            // Not for groups of 16 columns, whose products of matrices are too small: the code would be twice as long.
            if (BATCH == MAX_BATCH && F::GROUP == PACKED_NUMBERS && x.count == BATCH) {
                multiply_packed<true, F>(w, row, first, packed, x.count, result);
            } else {
                multiply_packed<false, F>(w, row, first, packed, x.count, result);
            }
        }
        return;
    }
    Stage own = {stage.x + position.simdgroup * BATCH * CHUNK, stage.sums + position.simdgroup * BATCH * CHUNK_SUMS};
    threadgroup uint* pairs = (threadgroup uint*)own.x;
    for (uint first = position.simdgroup * CHUNK; first < K; first += SPLIT * CHUNK) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (PAIRS) {
            stage_pairs(numbers, x.count, first, pairs, position.lane);
        } else {
            stage_chunk<F::GROUP>(numbers, x.count, first, own, position.lane);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (PAIRS) {
            multiply_pairs(F(), w, row, first, pairs, result);
        } else {
            multiply_chunk<F>(w, row, first, own, result);
        }
    }
    if (SPLIT > 1) {
        join<true>(stage, position, result);
    }
}

// multiply_rows with two matrices of the same shape.
template <typename F, typename T>
inline void multiply_two(device const uchar* first, device const uchar* second, Row row, Vectors<T> x, Stage stage,
                         ThreadPosition position, thread float* first_result, thread float* second_result) {
    if (PACKED_X && SPLIT > 1) {
        float results[2 * MAX_BATCH];
        for (uint m = 0; m < BATCH; m++) {
            results[m] = 0.0f;
            results[MAX_BATCH + m] = 0.0f;
        }
        device const uchar* const matrices[2] = {first, second};
        device const PackedBlock* packed = x.packed + ulong(x.first) * (K / PACKED_NUMBERS);
        multiply_all_pieces<F, 2>(matrices, row, packed, x.count, position.simdgroup, results);
        for (uint m = 0; m < BATCH; m++) {
            first_result[m] = results[m];
            second_result[m] = results[MAX_BATCH + m];
        }
        join<false>(stage, position, first_result);
        // Behind the results of the first matrix, if there is room.
        constexpr uint HALF = STAGED / 2;
        if (BATCH * SPLIT * 32 <= HALF) {
            join<false>(Stage{stage.x + HALF, stage.sums}, position, second_result);
        } else {
            join<true>(stage, position, second_result);
        }
    } else {
        multiply_rows<F>(first, row, x, stage, position, first_result);
        if (SPLIT > 1) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        multiply_rows<F>(second, row, x, stage, position, second_result);
    }
}

// RMS norms between products. The norm of a vector is one factor for all of its numbers: W (h · w / rms(h)) is
// W (h · w) / rms(h). So the product that computes h also packs h · w, and stores the sum of squares of each block; the
// next product multiplies with that, and applies the factor to its results.
constant bool NORMED_X [[function_constant(33)]]; // the vectors lack the factor of their norm
constant bool NORMED_Y [[function_constant(34)]]; // results are also packed for the next norm

// Factors of the norms of `count` vectors from `first` on, of squares [M, K / 32].
inline void norm_factors(device const float* squares, float epsilon, uint first, uint count, uint lane,
                         thread float* factors) {
    for (uint m = 0; m < BATCH; m++) {
        device const float* own = squares + ulong(first + min(m, count - 1)) * PIECES;
        float sum = 0.0f;
        // Without branches, so that a GPU need not wait for it before it loads weights.
#pragma clang loop unroll(full)
        for (uint i = 0; i < PIECES; i += SIMD_WIDTH) {
            float square = own[min(i + lane, PIECES - 1)];
            sum += i + lane < PIECES ? square : 0.0f;
        }
        factors[m] = rsqrt(simd_sum(sum) / float(K) + epsilon);
    }
}

struct GemvParams {
    uint n; // rows of the matrix
    uint m; // vectors
};

// Row of a lane in a tile, clamped to the last row of the matrix: only the layout `tiles` has padding rows.
inline Row row_of_lane(uint tile, uint lane, uint n) {
    return Row{tile, TILED ? lane : min(lane, n - 1 - tile * TILE_ROWS)};
}

constant bool BIAS [[function_constant(24)]];
constant bool RESIDUAL [[function_constant(25)]];

// The vectors of the threadgroups in column `group`: BATCH of M, or a tile of an expert.
inline ExpertTile tile_of_group(device const ExpertTile* tiles, uint group, uint m) {
    if (EXPERTS) {
        return load_tile(tiles, group);
    }
    uint first = group * BATCH;
    return ExpertTile{0, min(BATCH, m - first), first, first};
}

// y[m,n] = Σ_k W[n,k] · x[m,k]  (+ bias[n]) (+ residual[m,n])
//
// buffers  0 w device const uchar: N × K of the format F, `blocks` or `tiles`   1 x device const T [M, K]
//          2 y device T [M, N]   3 bias device const float [N], with BIAS   4 residual device const T [M, N], with
//          RESIDUAL; may be y   5 p constant GemvParams
//          6 packed_x device const PackedBlock [M, K / 32] instead of x, with PACKED_X
//          with NORMED_Y, for which N is a multiple of 32: 7 norm device const float [N]
//          8 packed_y device PackedBlock [M, N / 32]: y · norm   9 squares device float [M, N / 32]
//          with EXPERTS: w and bias are those of all experts, 10 tiles device const ExpertTile, of at most BATCH vectors
// grid     ceil(M / BATCH) × ceil(N / 32) threadgroups of 32 · SPLIT threads: all vectors for one tile of the matrix,
//          then the next tile, so that the tile is in a near cache for all but the first. With EXPERTS, the first size is
//          the number of tiles.
// sums     float; the same bits at every run
// moves    N · K / BLOCK · BYTES for each BATCH of vectors + sizeof(T) · (M · K + M · N) bytes
template <typename F, typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SPLIT)]]
kernel void gemv(device const uchar* w [[buffer(0)]],
                 device const T* x [[buffer(1), function_constant(NUMBERS_X)]],
                 device T* y [[buffer(2)]],
                 device const float* bias [[buffer(3), function_constant(BIAS)]],
                 device const T* residual [[buffer(4), function_constant(RESIDUAL)]],
                 constant GemvParams& p [[buffer(5)]],
                 device const PackedBlock* packed_x [[buffer(6), function_constant(PACKED_X)]],
                 device const float* norm [[buffer(7), function_constant(NORMED_Y)]],
                 device PackedBlock* packed_y [[buffer(8), function_constant(NORMED_Y)]],
                 device float* squares [[buffer(9), function_constant(NORMED_Y)]],
                 device const ExpertTile* tiles [[buffer(10), function_constant(EXPERTS)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float staged[STAGED];
    threadgroup float sums[STAGED / 16];
    ExpertTile tile = tile_of_group(EXPERTS ? tiles : nullptr, group.x, p.m);
    if (EXPERTS && tile.count == 0) {
        return;
    }
    device const uchar* matrix = EXPERTS ? w + tile.expert * matrix_bytes<F>(p.n, K) : w;
    uint first = tile.y, rows = tile.count, row = group.y * TILE_ROWS + lane;
    float result[MAX_BATCH];
    multiply_rows<F>(matrix, row_of_lane(group.y, lane, p.n), Vectors<T>{x, packed_x, tile.x, rows}, Stage{staged, sums},
                     ThreadPosition{lane, simdgroup, SPLIT}, result);
    if (simdgroup == 0 && row < p.n) {
        float added = BIAS ? bias[ulong(tile.expert) * p.n + row] : 0.0f;
        for (uint m = 0; m < BATCH; m++) {
            if (m < rows) {
                ulong at = ulong(first + m) * p.n + row;
                T value = T(result[m] + added + (RESIDUAL ? float(residual[at]) : 0.0f));
                y[at] = value;
                if (NORMED_Y) {
                    ulong block = at / PACKED_NUMBERS;
                    pack(float(value) * norm[row], packed_y + block, lane);
                    float sum = simd_sum(float(value) * float(value));
                    if (lane == 0) {
                        squares[block] = sum;
                    }
                }
            }
        }
    }
}

constant bool GELU [[function_constant(52)]]; // gemv_gated: gelu instead of silu
// gemv_gated: the function of gpt-oss of both projections.
constant bool CLAMPED_GATE [[function_constant(69)]];

inline float gated(float gate, float up) {
    return CLAMPED_GATE ? clamped_swiglu(gate, up) : (GELU ? gelu(gate) : silu(gate)) * up;
}

// y[m,n] = gated(Σ_k G[n,k] · x[m,k] (+ gate_bias[n]), Σ_k U[n,k] · x[m,k] (+ up_bias[n])), usually silu(gate) · up
//
// buffers  0 gate, 1 up device const uchar: N × K of the format F each   2 x device const T [M, K]
//          3 y device T [M, N]   4 p constant GemvParams          grid, sums: as gemv
//          5 packed_x device const PackedBlock [M, K / 32] instead of x, with PACKED_X
//          6 packed_y device PackedBlock [M, ceil(N / 32)] instead of y, with PACKED_Y: a tile of rows is a block
//          7 squares device const float [M, K / 32], 8 epsilon constant float, with NORMED_X
//          9 gate_bias, 10 up_bias device const float [N], with BIAS   11 tiles, with EXPERTS, as gemv
template <typename F, typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SPLIT)]]
kernel void gemv_gated(device const uchar* gate [[buffer(0)]],
                       device const uchar* up [[buffer(1)]],
                       device const T* x [[buffer(2), function_constant(NUMBERS_X)]],
                       device T* y [[buffer(3), function_constant(NUMBERS_Y)]],
                       constant GemvParams& p [[buffer(4)]],
                       device const PackedBlock* packed_x [[buffer(5), function_constant(PACKED_X)]],
                       device PackedBlock* packed_y [[buffer(6), function_constant(PACKED_Y)]],
                       device const float* squares [[buffer(7), function_constant(NORMED_X)]],
                       constant float& epsilon [[buffer(8), function_constant(NORMED_X)]],
                       device const float* gate_bias [[buffer(9), function_constant(BIAS)]],
                       device const float* up_bias [[buffer(10), function_constant(BIAS)]],
                       device const ExpertTile* tiles [[buffer(11), function_constant(EXPERTS)]],
                       uint2 group [[threadgroup_position_in_grid]],
                       uint2 groups [[threadgroups_per_grid]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float staged[STAGED];
    threadgroup float sums[STAGED / 16];
    Stage stage = {staged, sums};
    ThreadPosition position = {lane, simdgroup, SPLIT};
    ExpertTile tile = tile_of_group(EXPERTS ? tiles : nullptr, group.x, p.m);
    if (EXPERTS && tile.count == 0) {
        return;
    }
    ulong matrix = EXPERTS ? tile.expert * matrix_bytes<F>(p.n, K) : 0;
    uint first = tile.y, rows = tile.count, row = group.y * TILE_ROWS + lane;
    float gates[MAX_BATCH], ups[MAX_BATCH];
    Vectors<T> vectors = {x, packed_x, tile.x, rows};
    float factors[MAX_BATCH];
    if (NORMED_X) {
        norm_factors(squares, epsilon, tile.x, rows, lane, factors);
    }
    multiply_two<F>(gate + matrix, up + matrix, row_of_lane(group.y, lane, p.n), vectors, stage, position, gates, ups);
    for (uint m = 0; m < BATCH; m++) {
        gates[m] = NORMED_X ? gates[m] * factors[m] : gates[m];
        ups[m] = NORMED_X ? ups[m] * factors[m] : ups[m];
    }
    if (BIAS) {
        ulong at = ulong(tile.expert) * p.n + min(row, p.n - 1);
        for (uint m = 0; m < BATCH; m++) {
            gates[m] += gate_bias[at];
            ups[m] += up_bias[at];
        }
    }
    if (PACKED_Y && simdgroup == 0) {
        for (uint m = 0; m < BATCH; m++) {
            if (m < rows) {
                float hidden = row < p.n ? gated(gates[m], ups[m]) : 0.0f;
                pack(hidden, packed_y + ulong(first + m) * groups.y + group.y, lane);
            }
        }
    } else if (simdgroup == 0 && row < p.n) {
        for (uint m = 0; m < BATCH; m++) {
            if (m < rows) {
                y[ulong(first + m) * p.n + row] = T(gated(gates[m], ups[m]));
            }
        }
    }
}

struct GemvQkvParams {
    uint q_rows;
    uint kv_rows;
    uint m; // vectors
};

// Three products with the same vectors in one dispatch: q = Wq x, k = Wk x, v = Wv x (+ biases).
//
// buffers  0 wq, 1 wk, 2 wv device const uchar: q_rows, kv_rows, kv_rows × K of the format F
//          3 x device const T [M, K]   4 q device T [M, q_rows]   5 k, 6 v device T [M, kv_rows]
//          7 q_bias, 8 k_bias, 9 v_bias device const float, with BIAS   10 p constant GemvQkvParams
//          11 packed_x device const PackedBlock [M, K / 32] instead of x, with PACKED_X
//          12 squares device const float [M, K / 32], 13 epsilon constant float, with NORMED_X
// grid     ceil(M / BATCH) × (ceil(q_rows / 32) + 2 · ceil(kv_rows / 32)) threadgroups of 32 · SPLIT threads
template <typename F, typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SPLIT)]]
kernel void gemv_qkv(device const uchar* wq [[buffer(0)]],
                     device const uchar* wk [[buffer(1)]],
                     device const uchar* wv [[buffer(2)]],
                     device const T* x [[buffer(3), function_constant(NUMBERS_X)]],
                     device T* q [[buffer(4)]],
                     device T* k [[buffer(5)]],
                     device T* v [[buffer(6)]],
                     device const float* q_bias [[buffer(7), function_constant(BIAS)]],
                     device const float* k_bias [[buffer(8), function_constant(BIAS)]],
                     device const float* v_bias [[buffer(9), function_constant(BIAS)]],
                     constant GemvQkvParams& p [[buffer(10)]],
                     device const PackedBlock* packed_x [[buffer(11), function_constant(PACKED_X)]],
                     device const float* squares [[buffer(12), function_constant(NORMED_X)]],
                     constant float& epsilon [[buffer(13), function_constant(NORMED_X)]],
                     uint2 group [[threadgroup_position_in_grid]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float staged[STAGED];
    threadgroup float sums[STAGED / 16];
    uint q_tiles = (p.q_rows + TILE_ROWS - 1) / TILE_ROWS, kv_tiles = (p.kv_rows + TILE_ROWS - 1) / TILE_ROWS;
    bool is_q = group.y < q_tiles, is_k = group.y < q_tiles + kv_tiles;
    device const uchar* w = is_q ? wq : is_k ? wk : wv;
    device T* y = is_q ? q : is_k ? k : v;
    uint tile = is_q ? group.y : is_k ? group.y - q_tiles : group.y - q_tiles - kv_tiles;
    uint n = is_q ? p.q_rows : p.kv_rows, row = tile * TILE_ROWS + lane;
    uint first = group.x * BATCH, rows = min(BATCH, p.m - first);
    float result[MAX_BATCH], factors[MAX_BATCH];
    if (NORMED_X) {
        norm_factors(squares, epsilon, first, rows, lane, factors);
    }
    multiply_rows<F>(w, row_of_lane(tile, lane, n), Vectors<T>{x, packed_x, first, rows}, Stage{staged, sums},
                     ThreadPosition{lane, simdgroup, SPLIT}, result);
    if (simdgroup == 0 && row < n) {
        float added = 0.0f;
        if (BIAS) {
            added = is_q ? q_bias[row] : is_k ? k_bias[row] : v_bias[row];
        }
        for (uint m = 0; m < BATCH; m++) {
            if (m < rows) {
                y[ulong(first + m) * n + row] = T((NORMED_X ? result[m] * factors[m] : result[m]) + added);
            }
        }
    }
}

// Instantiates the three kernels for a format, given its name and its decoder.
#define INSTANTIATE_GEMV(format, F)                               \
    INSTANTIATE("gemv_" format "_f32", gemv, F, float)             \
    INSTANTIATE("gemv_" format "_f16", gemv, F, half)              \
    INSTANTIATE("gemv_gated_" format "_f32", gemv_gated, F, float) \
    INSTANTIATE("gemv_gated_" format "_f16", gemv_gated, F, half)  \
    INSTANTIATE("gemv_qkv_" format "_f32", gemv_qkv, F, float)     \
    INSTANTIATE("gemv_qkv_" format "_f16", gemv_qkv, F, half)

#endif
