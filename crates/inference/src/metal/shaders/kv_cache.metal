// kv_cache: stores keys and values in the cache and loads them, unrotated. (rope_kv in rope.metal rotates and stores at
// once.)
//   kv_write  rows of keys and values, each at its position
//   kv_read   the positions first … first + count − 1 as rows again, to save or inspect a conversation
// buffers  k, v device [rows, stride], heads one after the other from the beginning of a row, f32 or f16
//          keys, values device, laid out by kv_layout.metal, f16 or f32
//          positions device const uint [rows]; one from `capacity` on is not stored
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
};

struct KvReadParams {
    uint first;
    uint k_stride;
    uint v_stride;
    uint capacity;
};

template <typename T, typename KV>
kernel void kv_write(device const T* k [[buffer(0)]],
                     device const T* v [[buffer(1)]],
                     device KV* keys [[buffer(2)]],
                     device KV* values [[buffer(3)]],
                     device const uint* positions [[buffer(4)]],
                     constant KvWriteParams& p [[buffer(5)]],
                     uint3 at [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint i = at.x * SIMD_WIDTH + lane;
    uint position = positions[at.y];
    if (i < HEAD_DIM && position < p.capacity) {
        float key = float(k[ulong(at.y) * p.k_stride + at.z * HEAD_DIM + i]);
        float value = float(v[ulong(at.y) * p.v_stride + at.z * HEAD_DIM + i]);
        keys[key_index(at.z, position, i, p.capacity, HEAD_DIM)] = KV(key);
        values[value_index(at.z, position, i, p.capacity, HEAD_DIM)] = KV(value);
    }
}

template <typename T, typename KV>
kernel void kv_read(device const KV* keys [[buffer(0)]],
                    device const KV* values [[buffer(1)]],
                    device T* k [[buffer(2)]],
                    device T* v [[buffer(3)]],
                    constant KvReadParams& p [[buffer(4)]],
                    uint3 at [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    uint i = at.x * SIMD_WIDTH + lane;
    uint position = p.first + at.y;
    if (i < HEAD_DIM) {
        float key = float(keys[key_index(at.z, position, i, p.capacity, HEAD_DIM)]);
        float value = float(values[value_index(at.z, position, i, p.capacity, HEAD_DIM)]);
        k[ulong(at.y) * p.k_stride + at.z * HEAD_DIM + i] = T(key);
        v[ulong(at.y) * p.v_stride + at.z * HEAD_DIM + i] = T(value);
    }
}

INSTANTIATE("kv_write_f32_f32", kv_write, float, float)
INSTANTIATE("kv_write_f32_f16", kv_write, float, half)
INSTANTIATE("kv_write_f16_f32", kv_write, half, float)
INSTANTIATE("kv_write_f16_f16", kv_write, half, half)
INSTANTIATE("kv_read_f32_f32", kv_read, float, float)
INSTANTIATE("kv_read_f32_f16", kv_read, float, half)
INSTANTIATE("kv_read_f16_f32", kv_read, half, float)
INSTANTIATE("kv_read_f16_f16", kv_read, half, half)
