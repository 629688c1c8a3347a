// gated_attention: attention whose output has a gate. The product for queries has both, head by head:
//   x[t] = [q of head 0 | gate of head 0 | q of head 1 | …], DIM numbers each
//   query_norm  y = q / √(mean(q²) + ε) · w, the heads one after the other
//   gate_heads  y = a · sigmoid(gate), for the output a of attention
// buffers  x device const [rows, heads, 2, DIM]; a, y device [rows, heads, DIM], f32 or f16; w device const float [DIM];
//          gate_heads: packed_y device PackedBlock instead of y, with PACKED_Y; DIM a multiple of 32
//          y of gate_heads may be a; no other output overlaps an input
// grid     (heads, rows) threadgroups of 32
// moves    each number once in and once out
#include "common.metal"
#include "packed.metal"

constant uint DIM [[function_constant(0)]];

template <typename T>
kernel void query_norm(device const T* x [[buffer(0)]],
                       device const float* w [[buffer(1)]],
                       device T* y [[buffer(2)]],
                       constant float& epsilon [[buffer(3)]],
                       uint2 at [[threadgroup_position_in_grid]],
                       uint2 grid [[threadgroups_per_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    ulong head = ulong(at.y) * grid.x + at.x;
    x += head * 2 * DIM;
    y += head * DIM;
    float squares = 0.0f;
    for (uint i = lane; i < DIM; i += SIMD_WIDTH) {
        float value = float(x[i]);
        squares += value * value;
    }
    float factor = rsqrt(simd_sum(squares) / float(DIM) + epsilon);
    for (uint i = lane; i < DIM; i += SIMD_WIDTH) {
        y[i] = T(float(x[i]) * factor * w[i]);
    }
}

template <typename T>
kernel void gate_heads(device const T* a [[buffer(0)]],
                       device const T* x [[buffer(1)]],
                       device T* y [[buffer(2), function_constant(NUMBERS_Y)]],
                       device PackedBlock* packed_y [[buffer(3), function_constant(PACKED_Y)]],
                       uint2 at [[threadgroup_position_in_grid]],
                       uint2 grid [[threadgroups_per_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    ulong head = ulong(at.y) * grid.x + at.x;
    x += (head * 2 + 1) * DIM;
    for (uint i = lane; i < DIM; i += SIMD_WIDTH) {
        float gated = float(a[head * DIM + i]) * sigmoid(float(x[i]));
        if (PACKED_Y) {
            pack(gated, packed_y + (head * DIM + i - lane) / PACKED_NUMBERS, lane);
        } else {
            y[head * DIM + i] = T(gated);
        }
    }
}

INSTANTIATE("query_norm_f32", query_norm, float)
INSTANTIATE("query_norm_f16", query_norm, half)
INSTANTIATE("gate_heads_f32", gate_heads, float)
INSTANTIATE("gate_heads_f16", gate_heads, half)
