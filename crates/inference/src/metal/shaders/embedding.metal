// embedding: y[t, i] = E[token[t], i] · scale, rows of a table of any format.
// buffers  0 table device const Block [VOCABULARY, DIM / numbers in a block]   1 tokens device const uint [count]
//          2 y device [count, DIM], f32 or f16                                 3 scale constant float (1 for most models)
// grid     (ceil(DIM / (32·SIMDGROUPS)), count) threadgroups of 32·SIMDGROUPS threads
//          A simdgroup takes 32 neighbouring numbers, so that what they share (block, scale, shift) is the same in all
//          lanes and the bytes of a block lie side by side. A row is little work: it is spread over threadgroups.
// needs    DIM a multiple of the numbers in a block
// A token that is not in the table gives a row of NaN, which no test and no reader overlooks.
#include "common.metal"
#include "quantize.metal"
#include "tiles.metal"

constant uint DIM [[function_constant(0)]];
constant uint VOCABULARY [[function_constant(1)]];
constant uint SIMDGROUPS [[function_constant(2)]];

template <typename Block, typename T>
kernel void embedding(device const Block* table [[buffer(0)]],
                      device const uint* tokens [[buffer(1)]],
                      device T* y [[buffer(2)]],
                      constant float& scale [[buffer(3)]],
                      uint2 at [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    constexpr uint numbers = BlockSize<Block>::value;
    uint first = (at.x * SIMDGROUPS + simdgroup) * SIMD_WIDTH;
    uint i = first + lane;
    if (i >= DIM) {
        return;
    }
    uint token = tokens[at.y];
    device T* out = y + ulong(at.y) * DIM;
    if (token >= VOCABULARY) {
        out[i] = not_a_number<T>();
        return;
    }
    device const Block* row = table + ulong(token) * (DIM / numbers);
    // Blocks hold 1, 32 or 256 numbers: all 32 of a simdgroup are in one block, or each is its own.
    uint block = numbers == 1 ? i : first / numbers;
    uint within = numbers == 1 ? 0 : first % numbers + lane;
    out[i] = T(dequantize(row[block], within) * scale);
}

#define INSTANTIATE_EMBEDDING(format, Block) \
    INSTANTIATE("embedding_" format "_f32", embedding, Block, float) \
    INSTANTIATE("embedding_" format "_f16", embedding, Block, half)

INSTANTIATE_EMBEDDING("f32", float)
INSTANTIATE_EMBEDDING("f16", half)
INSTANTIATE_EMBEDDING("bf16", bfloat)
INSTANTIATE_EMBEDDING("q8_0", block_q8_0)
INSTANTIATE_EMBEDDING("q4_0", block_q4_0)
INSTANTIATE_EMBEDDING("q4_1", block_q4_1)
INSTANTIATE_EMBEDDING("q5_0", block_q5_0)
INSTANTIATE_EMBEDDING("q5_1", block_q5_1)
INSTANTIATE_EMBEDDING("q4_K", block_q4_K)
INSTANTIATE_EMBEDDING("q5_K", block_q5_K)
INSTANTIATE_EMBEDDING("q6_K", block_q6_K)

// embedding_tiles: the same from a table in tiles, such as one that is the matrix of lm_head, too.
// buffers  0 table device const uchar: VOCABULARY × DIM of the format F in tiles   1 tokens, 2 y, 3 scale as above
// grid     (ceil(DIM / (128·SIMDGROUPS)), count) threadgroups of 32·SIMDGROUPS threads; a thread takes four numbers
// needs    DIM a multiple of 32 and of the numbers in a block
template <typename F, typename T>
kernel void embedding_tiles(device const uchar* table [[buffer(0)]],
                            device const uint* tokens [[buffer(1)]],
                            device T* y [[buffer(2)]],
                            constant float& scale [[buffer(3)]],
                            uint2 at [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint i = ((at.x * SIMDGROUPS + simdgroup) * SIMD_WIDTH + lane) * 4;
    if (i >= DIM) {
        return;
    }
    uint token = tokens[at.y];
    device T* out = y + ulong(at.y) * DIM + i;
    if (token >= VOCABULARY) {
        for (uint j = 0; j < 4; j++) {
            out[j] = not_a_number<T>();
        }
        return;
    }
    BlockUnits block = block_units<F>(table, DIM, Row{token / TILE_ROWS, token % TILE_ROWS}, i / F::BLOCK);
    uint group = i % F::BLOCK / F::GROUP;
    float2 affine = F::affine(block, group);
    float4 numbers = (affine.x * F::values(block, group, i % F::GROUP / 4) + affine.y) * scale;
    for (uint j = 0; j < 4; j++) {
        out[j] = T(numbers[j]);
    }
}

#define INSTANTIATE_EMBEDDING_TILES(format, F) \
    INSTANTIATE("embedding_tiles_" format "_f32", embedding_tiles, F, float) \
    INSTANTIATE("embedding_tiles_" format "_f16", embedding_tiles, F, half)

INSTANTIATE_EMBEDDING_TILES("f32", Plain<float>)
INSTANTIATE_EMBEDDING_TILES("f16", Plain<half>)
INSTANTIATE_EMBEDDING_TILES("bf16", Plain<bfloat>)
INSTANTIATE_EMBEDDING_TILES("q8_0", q8_0)
INSTANTIATE_EMBEDDING_TILES("q4_0", q4_0)
INSTANTIATE_EMBEDDING_TILES("q4_1", q4_1)
INSTANTIATE_EMBEDDING_TILES("q5_0", q5_0)
INSTANTIATE_EMBEDDING_TILES("q5_1", q5_1)
INSTANTIATE_EMBEDDING_TILES("q4_K", q4_K)
INSTANTIATE_EMBEDDING_TILES("q5_K", q5_K)
INSTANTIATE_EMBEDDING_TILES("q6_K", q6_K)
