// embedding: y[t, i] = E[token[t], i] · scale, rows of a table of any format.
//   embedding        from a table in either layout of include/tiles.metal; DIM a multiple of 32 and of the block
//   embedding_rows   from a row-major table of plain numbers, as in files, with any DIM
// buffers  0 table, VOCABULARY × DIM   1 tokens device const uint [count]   2 y device T [count, DIM]
//          3 scale constant float (1 for most models)
// grid     (ceil(DIM / (NUMBERS·32·SIMDGROUPS)), count) threadgroups of 32·SIMDGROUPS threads; a thread takes NUMBERS
//          numbers: 4 from tiles, 1 otherwise. A row is little work: it is spread over threadgroups.
// A token outside of the table gives a row of NaN, which cannot go unnoticed.
#include "common.metal"
#include "quantize.metal"

constant uint DIM [[function_constant(0)]];
constant uint VOCABULARY [[function_constant(12)]];

template <typename F, typename T>
kernel void embedding(device const uchar* table [[buffer(0)]],
                      device const uint* tokens [[buffer(1)]],
                      device T* y [[buffer(2)]],
                      constant float& scale [[buffer(3)]],
                      uint2 at [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint first = (at.x * SIMDGROUPS + simdgroup) * SIMD_WIDTH * (TILED ? 4 : 1);
    uint i = first + lane * (TILED ? 4 : 1);
    if (i >= DIM) {
        return;
    }
    uint token = tokens[at.y];
    device T* out = y + ulong(at.y) * DIM + i;
    if (token >= VOCABULARY) {
        for (uint j = 0; j < (TILED ? 4u : 1u); j++) {
            out[j] = not_a_number<T>();
        }
        return;
    }
    if (TILED) {
        BlockUnits block = block_units<F>(table, DIM, Row{token / TILE_ROWS, token % TILE_ROWS}, i / F::BLOCK);
        float4 numbers = dequantize<F>(block, i % F::BLOCK) * scale;
        for (uint j = 0; j < 4; j++) {
            out[j] = T(numbers[j]);
        }
    } else {
        // The 32 numbers of a simdgroup are in one block: its scales are uniform, and lanes read consecutive bytes.
        ulong block = ulong(token) * (DIM / F::BLOCK) + first / F::BLOCK;
        *out = T(dequantize_lane<F>(table + block * F::BYTES, first % F::BLOCK, lane) * scale);
    }
}

template <typename W, typename T>
kernel void embedding_rows(device const W* table [[buffer(0)]],
                           device const uint* tokens [[buffer(1)]],
                           device T* y [[buffer(2)]],
                           constant float& scale [[buffer(3)]],
                           uint2 at [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint i = (at.x * SIMDGROUPS + simdgroup) * SIMD_WIDTH + lane;
    if (i >= DIM) {
        return;
    }
    uint token = tokens[at.y];
    float number = token < VOCABULARY ? float(table[ulong(token) * DIM + i]) * scale : 0.0f;
    y[ulong(at.y) * DIM + i] = token < VOCABULARY ? T(number) : not_a_number<T>();
}

#define INSTANTIATE_EMBEDDING(format, F)                         \
    INSTANTIATE("embedding_" format "_f32", embedding, F, float) \
    INSTANTIATE("embedding_" format "_f16", embedding, F, half)

ALL_FORMATS(INSTANTIATE_EMBEDDING)

#define INSTANTIATE_EMBEDDING_ROWS(format, W)                              \
    INSTANTIATE("embedding_rows_" format "_f32", embedding_rows, W, float) \
    INSTANTIATE("embedding_rows_" format "_f16", embedding_rows, W, half)

INSTANTIATE_EMBEDDING_ROWS("f32", float)
INSTANTIATE_EMBEDDING_ROWS("f16", half)
INSTANTIATE_EMBEDDING_ROWS("bf16", bfloat)
