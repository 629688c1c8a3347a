// kv_cache: stores keys and values in the cache and loads them, unrotated. (rope_kv in rope.metal rotates and stores at
// once.)
//   kv_write         rows of keys and values, each at its position
//   kv_write_blocks  the same for a cache in blocks
//   kv_read          the positions first … first + count − 1 as rows again, to save or inspect a conversation
// buffers  k, v device [rows, stride], heads one after the other from the beginning of a row, f32 or f16
//          keys, values device, laid out by kv_layout.metal
//          positions device const uint [rows]; one from `limit` on is not stored
// grid     (ceil(HEAD_DIM/32), rows, heads) threadgroups of 32 threads: lanes are adjacent in the rows and in the
//          values; keys are 32 apart in the cache, so that reading them, which happens far more often, is fast
// moves    each number once in and once out
#include "common.metal"
#include "kv_layout.metal"

constant uint HEAD_DIM [[function_constant(3)]];

struct KvWriteParams {
    uint k_stride;
    uint v_stride;
    uint capacity;
    uint limit;
    uint sequence; // of the rows
};

struct KvReadParams {
    uint first;
    uint k_stride;
    uint v_stride;
    uint capacity;
    uint sequence;
};

template <typename T, typename KV>
kernel void kv_write(device const T* k [[buffer(0)]],
                     device const T* v [[buffer(1)]],
                     device KV* keys [[buffer(2)]],
                     device KV* values [[buffer(3)]],
                     device const uint* positions [[buffer(4)]],
                     constant KvWriteParams& p [[buffer(5)]],
                     uint3 at [[threadgroup_position_in_grid]],
                     uint3 size [[threadgroups_per_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint i = at.x * SIMD_WIDTH + lane;
    uint position = positions[at.y];
    if (i < HEAD_DIM && position < p.limit) {
        ulong head = ulong(p.sequence) * size.z + at.z;
        float key = float(k[ulong(at.y) * p.k_stride + at.z * HEAD_DIM + i]);
        float value = float(v[ulong(at.y) * p.v_stride + at.z * HEAD_DIM + i]);
        keys[key_index<KV>(head, position, i, p.capacity, HEAD_DIM)] = KV(key);
        values[value_index<KV>(head, position, i, p.capacity, HEAD_DIM)] = KV(value);
    }
}

// needs    HEAD_DIM a multiple of 32: a simdgroup has a block
template <typename T, typename KV>
kernel void kv_write_blocks(device const T* k [[buffer(0)]],
                            device const T* v [[buffer(1)]],
                            device typename Cached<KV>::Key* keys [[buffer(2)]],
                            device typename Cached<KV>::Value* values [[buffer(3)]],
                            device const uint* positions [[buffer(4)]],
                            constant KvWriteParams& p [[buffer(5)]],
                            uint3 at [[threadgroup_position_in_grid]],
                            uint3 size [[threadgroups_per_grid]],
                            uint lane [[thread_index_in_simdgroup]]) {
    uint position = positions[at.y], i = at.z * HEAD_DIM + at.x * KV_BLOCK + lane;
    if (position < p.limit) {
        ulong head = ulong(p.sequence) * size.z + at.z;
        float key = float(k[ulong(at.y) * p.k_stride + i]);
        float value = float(v[ulong(at.y) * p.v_stride + i]);
        store_key(key, keys + key_tile<KV>(head, position, p.capacity, HEAD_DIM), at.x, position % KEY_TILE, lane);
        store_value(value, values + value_row<KV>(head, position, p.capacity, HEAD_DIM), at.x, lane);
    }
}

template <typename T, typename KV>
kernel void kv_read(device const typename Cached<KV>::Key* keys [[buffer(0)]],
                    device const typename Cached<KV>::Value* values [[buffer(1)]],
                    device T* k [[buffer(2)]],
                    device T* v [[buffer(3)]],
                    constant KvReadParams& p [[buffer(4)]],
                    uint3 at [[threadgroup_position_in_grid]],
                    uint3 size [[threadgroups_per_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    uint i = at.x * SIMD_WIDTH + lane;
    uint position = p.first + at.y;
    if (i < HEAD_DIM) {
        ulong head = ulong(p.sequence) * size.z + at.z;
        float key = Cached<KV>::key(keys + key_tile<KV>(head, position, p.capacity, HEAD_DIM), i, position % KEY_TILE);
        float value = Cached<KV>::value(values + value_row<KV>(head, position, p.capacity, HEAD_DIM), i);
        k[ulong(at.y) * p.k_stride + at.z * HEAD_DIM + i] = T(key);
        v[ulong(at.y) * p.v_stride + at.z * HEAD_DIM + i] = T(value);
    }
}

INSTANTIATE("kv_write_f32_f32", kv_write, float, float)
INSTANTIATE("kv_write_f32_f16", kv_write, float, half)
INSTANTIATE("kv_write_f16_f32", kv_write, half, float)
INSTANTIATE("kv_write_f16_f16", kv_write, half, half)
INSTANTIATE("kv_write_f32_q8_0", kv_write_blocks, float, kv_q8_0)
INSTANTIATE("kv_write_f32_q4_0", kv_write_blocks, float, kv_q4_0)
INSTANTIATE("kv_write_f16_q8_0", kv_write_blocks, half, kv_q8_0)
INSTANTIATE("kv_write_f16_q4_0", kv_write_blocks, half, kv_q4_0)
INSTANTIATE("kv_write_f32_f16_q8_0", kv_write_blocks, float, kv_f16_q8_0)
INSTANTIATE("kv_write_f32_f16_q4_0", kv_write_blocks, float, kv_f16_q4_0)
INSTANTIATE("kv_write_f32_q8_0_f16", kv_write_blocks, float, kv_q8_0_f16)
INSTANTIATE("kv_write_f32_q8_0_q4_0", kv_write_blocks, float, kv_q8_0_q4_0)
INSTANTIATE("kv_write_f16_f16_q8_0", kv_write_blocks, half, kv_f16_q8_0)
INSTANTIATE("kv_write_f16_f16_q4_0", kv_write_blocks, half, kv_f16_q4_0)
INSTANTIATE("kv_write_f16_q8_0_f16", kv_write_blocks, half, kv_q8_0_f16)
INSTANTIATE("kv_write_f16_q8_0_q4_0", kv_write_blocks, half, kv_q8_0_q4_0)
INSTANTIATE("kv_read_f32_f32", kv_read, float, float)
INSTANTIATE("kv_read_f32_f16", kv_read, float, half)
INSTANTIATE("kv_read_f16_f32", kv_read, half, float)
INSTANTIATE("kv_read_f16_f16", kv_read, half, half)
INSTANTIATE("kv_read_f32_q8_0", kv_read, float, kv_q8_0)
INSTANTIATE("kv_read_f32_q4_0", kv_read, float, kv_q4_0)
INSTANTIATE("kv_read_f16_q8_0", kv_read, half, kv_q8_0)
INSTANTIATE("kv_read_f16_q4_0", kv_read, half, kv_q4_0)
INSTANTIATE("kv_read_f32_f16_q8_0", kv_read, float, kv_f16_q8_0)
INSTANTIATE("kv_read_f32_f16_q4_0", kv_read, float, kv_f16_q4_0)
INSTANTIATE("kv_read_f32_q8_0_f16", kv_read, float, kv_q8_0_f16)
INSTANTIATE("kv_read_f32_q8_0_q4_0", kv_read, float, kv_q8_0_q4_0)
INSTANTIATE("kv_read_f16_f16_q8_0", kv_read, half, kv_f16_q8_0)
INSTANTIATE("kv_read_f16_f16_q4_0", kv_read, half, kv_f16_q4_0)
INSTANTIATE("kv_read_f16_q8_0_f16", kv_read, half, kv_q8_0_f16)
INSTANTIATE("kv_read_f16_q8_0_q4_0", kv_read, half, kv_q8_0_q4_0)
