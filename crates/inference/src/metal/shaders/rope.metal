// rope: rotary position embeddings. Pair i of a head turns by the angle position · frequencies[i]:
//   (a, b) → magnitude · (a·cos − b·sin, a·sin + b·cos)
//   The pairs are (2i, 2i + 1), or with NEOX (i, i + ROTARY/2), for i < ROTARY/2. Numbers from ROTARY on are unchanged
//   (partial rotation). The host computes the frequencies, base^(−2i/ROTARY) / factor[i]: bases, factors and the
//   schemes that extend contexts differ in them alone. magnitude is 1, except for schemes that set it.
//   rope      rotates heads
//   rope_kv   rotates q and k and stores k and v in the cache, in one dispatch after the product that computes them
//   rope_kv_blocks   the same for a cache in blocks
// buffers  x, q, k, v device const [tokens, stride], heads one after the other from the beginning of a row, f32 or f16
//          y device [tokens, heads·HEAD_DIM]; may be x or q if the strides are the same
//          positions device const uint [tokens]; frequencies device const float [ROTARY/2]
//          sequences device const uint [tokens], with ROW_SEQUENCES
//          keys, values device, in the layout of kv_layout.metal; a position from `limit` on is not stored
// grid     (ceil(HEAD_DIM/64), tokens, splits) threadgroups of 32 threads; rope_kv: ceil(tokens/together)
//          A lane has one pair of every head in its split, so sine and cosine are computed once for all of them: one
//          split is best on a CPU, one for each head on a GPU. Adjacent lanes have adjacent pairs.
//          rope_kv takes `together` tokens at a time. A cache line of keys has 32 positions: on a CPU, threads that
//          write to the same one would take it from each other at every number.
// needs    HEAD_DIM and ROTARY even, ROTARY ≤ HEAD_DIM
// moves    each number once in and once out
#include "common.metal"
#include "kv_layout.metal"

constant uint HEAD_DIM [[function_constant(3)]];
constant uint ROTARY [[function_constant(4)]];
constant bool NEOX [[function_constant(5)]];

struct RopeParams {
    uint heads;
    uint x_stride;
    uint splits;
    float magnitude;
};

struct RopeKvParams {
    uint heads;
    uint kv_heads;
    uint q_stride;
    uint k_stride;
    uint v_stride;
    uint capacity;
    uint limit;    // positions from here on are not stored
    uint sequence; // of all tokens, without ROW_SEQUENCES
    uint splits;
    uint tokens;
    uint together; // tokens of a threadgroup
    float magnitude;
};

// Two numbers of a head, and their rotation.
struct Pair {
    uint first;
    uint second;
    float cosine;
    float sine;
};

inline Pair find_pair(uint pair, uint position, device const float* frequencies, float magnitude) {
    if (pair >= ROTARY / 2) {
        return Pair{2 * pair, 2 * pair + 1, 1.0f, 0.0f};
    }
    // Precise sine and cosine: angles grow with the context, and the fast versions are inaccurate for large angles.
    float angle = float(position) * frequencies[pair];
    float cosine = precise::cos(angle) * magnitude;
    float sine = precise::sin(angle) * magnitude;
    if (NEOX) {
        return Pair{pair, pair + ROTARY / 2, cosine, sine};
    }
    return Pair{2 * pair, 2 * pair + 1, cosine, sine};
}

template <typename T>
inline float2 rotated(device const T* head, Pair pair) {
    float a = float(head[pair.first]);
    float b = float(head[pair.second]);
    return float2(a * pair.cosine - b * pair.sine, a * pair.sine + b * pair.cosine);
}

template <typename T>
inline void rotate_heads(device const T* x, device T* y, uint heads, Pair pair, uint split, uint splits) {
    for (uint head = split; head < heads; head += splits) {
        float2 turned = rotated(x + head * HEAD_DIM, pair);
        y[head * HEAD_DIM + pair.first] = T(turned.x);
        y[head * HEAD_DIM + pair.second] = T(turned.y);
    }
}

template <typename T>
kernel void rope(device const T* x [[buffer(0)]],
                 device T* y [[buffer(1)]],
                 device const uint* positions [[buffer(2)]],
                 device const float* frequencies [[buffer(3)]],
                 constant RopeParams& p [[buffer(4)]],
                 uint3 at [[threadgroup_position_in_grid]],
                 uint lane [[thread_index_in_simdgroup]]) {
    uint index = at.x * SIMD_WIDTH + lane;
    if (index >= HEAD_DIM / 2) {
        return;
    }
    Pair pair = find_pair(index, positions[at.y], frequencies, p.magnitude);
    device T* out = y + ulong(at.y) * p.heads * HEAD_DIM;
    rotate_heads(x + ulong(at.y) * p.x_stride, out, p.heads, pair, at.z, p.splits);
}

template <typename T, typename KV>
kernel void rope_kv(device const T* q [[buffer(0)]],
                    device const T* k [[buffer(1)]],
                    device const T* v [[buffer(2)]],
                    device T* y [[buffer(3)]],
                    device KV* keys [[buffer(4)]],
                    device KV* values [[buffer(5)]],
                    device const uint* positions [[buffer(6)]],
                    device const float* frequencies [[buffer(7)]],
                    constant RopeKvParams& p [[buffer(8)]],
                    device const uint* sequences [[buffer(9), function_constant(ROW_SEQUENCES)]],
                    uint3 at [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    uint index = at.x * SIMD_WIDTH + lane;
    if (index >= HEAD_DIM / 2) {
        return;
    }
    for (uint token = at.y * p.together; token < min((at.y + 1) * p.together, p.tokens); token++) {
        uint position = positions[token];
        Pair pair = find_pair(index, position, frequencies, p.magnitude);
        device T* out = y + ulong(token) * p.heads * HEAD_DIM;
        rotate_heads(q + ulong(token) * p.q_stride, out, p.heads, pair, at.z, p.splits);
        if (position >= p.limit) {
            continue;
        }
        device const T* key = k + ulong(token) * p.k_stride;
        device const T* value = v + ulong(token) * p.v_stride;
        uint sequence = ROW_SEQUENCES ? sequences[token] : p.sequence;
        for (uint head = at.z; head < p.kv_heads; head += p.splits) {
            ulong cached = ulong(sequence) * p.kv_heads + head;
            float2 turned = rotated(key + head * HEAD_DIM, pair);
            keys[key_index<KV>(cached, position, pair.first, p.capacity, HEAD_DIM)] = KV(turned.x);
            keys[key_index<KV>(cached, position, pair.second, p.capacity, HEAD_DIM)] = KV(turned.y);
            // Both halves of the value: they are not rotated, and lanes write to adjacent addresses.
            uint other = index + HEAD_DIM / 2, from = head * HEAD_DIM;
            values[value_index<KV>(cached, position, index, p.capacity, HEAD_DIM)] = KV(float(value[from + index]));
            values[value_index<KV>(cached, position, other, p.capacity, HEAD_DIM)] = KV(float(value[from + other]));
        }
    }
}

// Numbers of a head that is rounded to blocks.
constant constexpr uint MAX_BLOCKS_HEAD = 256;
constant constexpr uint MAX_PAIR_PIECES = MAX_BLOCKS_HEAD / 2 / SIMD_WIDTH;

// Pieces of 32 pairs of a head.
constant uint PAIR_PIECES = (HEAD_DIM / 2 + SIMD_WIDTH - 1) / SIMD_WIDTH;

// A block has numbers of several lanes, so that a simdgroup takes a whole head, in threadgroup memory.
//
// grid     (1, ceil(tokens/together), splits) threadgroups of 32 threads
// needs    HEAD_DIM a multiple of 32, at most 256
template <typename T, typename KV>
kernel void rope_kv_blocks(device const T* q [[buffer(0)]],
                           device const T* k [[buffer(1)]],
                           device const T* v [[buffer(2)]],
                           device T* y [[buffer(3)]],
                           device typename Cached<KV>::Key* keys [[buffer(4)]],
                           device typename Cached<KV>::Value* values [[buffer(5)]],
                           device const uint* positions [[buffer(6)]],
                           device const float* frequencies [[buffer(7)]],
                           constant RopeKvParams& p [[buffer(8)]],
                           device const uint* sequences [[buffer(9), function_constant(ROW_SEQUENCES)]],
                           uint3 at [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float numbers[MAX_BLOCKS_HEAD];
    for (uint token = at.y * p.together; token < min((at.y + 1) * p.together, p.tokens); token++) {
        uint position = positions[token];
        device T* out = y + ulong(token) * p.heads * HEAD_DIM;
        Pair pairs[MAX_PAIR_PIECES];
        for (uint c = 0; c < PAIR_PIECES; c++) {
            uint index = c * SIMD_WIDTH + lane;
            if (index < HEAD_DIM / 2) {
                pairs[c] = find_pair(index, position, frequencies, p.magnitude);
                rotate_heads(q + ulong(token) * p.q_stride, out, p.heads, pairs[c], at.z, p.splits);
            }
        }
        if (position >= p.limit) {
            continue;
        }
        for (uint head = at.z; head < p.kv_heads; head += p.splits) {
            device const T* key = k + ulong(token) * p.k_stride + head * HEAD_DIM;
            device const T* value = v + ulong(token) * p.v_stride + head * HEAD_DIM;
            for (uint c = 0; c < PAIR_PIECES; c++) {
                if (c * SIMD_WIDTH + lane < HEAD_DIM / 2) {
                    float2 turned = rotated(key, pairs[c]);
                    numbers[pairs[c].first] = turned.x;
                    numbers[pairs[c].second] = turned.y;
                }
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            ulong cached = ulong(ROW_SEQUENCES ? sequences[token] : p.sequence) * p.kv_heads + head;
            ulong tile = key_tile<KV>(cached, position, p.capacity, HEAD_DIM);
            ulong row = value_row<KV>(cached, position, p.capacity, HEAD_DIM);
            for (uint b = 0; b < HEAD_DIM / KV_BLOCK; b++) {
                store_key(numbers[b * KV_BLOCK + lane], keys + tile, b, position % KEY_TILE, lane);
                store_value(float(value[b * KV_BLOCK + lane]), values + row, b, lane);
            }
            simdgroup_barrier(mem_flags::mem_threadgroup);
        }
    }
}

INSTANTIATE("rope_f32", rope, float)
INSTANTIATE("rope_f16", rope, half)
INSTANTIATE("rope_kv_f32_f32", rope_kv, float, float)
INSTANTIATE("rope_kv_f32_f16", rope_kv, float, half)
INSTANTIATE("rope_kv_f16_f32", rope_kv, half, float)
INSTANTIATE("rope_kv_f16_f16", rope_kv, half, half)
INSTANTIATE("rope_kv_f32_q8_0", rope_kv_blocks, float, kv_q8_0)
INSTANTIATE("rope_kv_f32_q4_0", rope_kv_blocks, float, kv_q4_0)
INSTANTIATE("rope_kv_f16_q8_0", rope_kv_blocks, half, kv_q8_0)
INSTANTIATE("rope_kv_f16_q4_0", rope_kv_blocks, half, kv_q4_0)
INSTANTIATE("rope_kv_f32_f16_q8_0", rope_kv_blocks, float, kv_f16_q8_0)
INSTANTIATE("rope_kv_f32_f16_q4_0", rope_kv_blocks, float, kv_f16_q4_0)
INSTANTIATE("rope_kv_f32_q8_0_f16", rope_kv_blocks, float, kv_q8_0_f16)
INSTANTIATE("rope_kv_f32_q8_0_q4_0", rope_kv_blocks, float, kv_q8_0_q4_0)
INSTANTIATE("rope_kv_f16_f16_q8_0", rope_kv_blocks, half, kv_f16_q8_0)
INSTANTIATE("rope_kv_f16_f16_q4_0", rope_kv_blocks, half, kv_f16_q4_0)
INSTANTIATE("rope_kv_f16_q8_0_f16", rope_kv_blocks, half, kv_q8_0_f16)
INSTANTIATE("rope_kv_f16_q8_0_q4_0", rope_kv_blocks, half, kv_q8_0_q4_0)
