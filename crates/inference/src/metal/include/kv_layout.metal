// Layout of the KV cache.
//
//     keys     [sequences, heads, capacity / 32, D, 32]   32 positions side by side: lanes that are positions read whole
//                                                         cache lines, q is uniform, and no product of q and k is
//                                                         summed across lanes. It is also the transpose that matrix
//                                                         products need.
//     values   [sequences, heads, capacity, D]            a row for each position: lanes are the numbers of the result.
//
// The capacity is a multiple of 32. On one thread of a CPU with AVX-512, decoding reads this cache 1.7 times as fast as
// one with rows of keys. Position p is stored at p % capacity: where attention has a window, the cache is a ring with room
// for little more than the window.
//
// Numbers are float, half, or in blocks of 32 numbers of a head:
//
//     kv_q8_0   number = scale · q, q signed, 8 bits
//     kv_q4_0   number = scale · (q − 8), q 4 bits
//
// Values have GGUF's blocks of these names. Keys have the blocks of 32 positions in one struct: 32 scales, then the
// numbers, positions side by side. In q4_0, the low half of a byte is number i of a block and the high half i + 16.
// Types with two names have that of keys, and that of values.
#ifndef METALWORKS_KV_LAYOUT_METAL
#define METALWORKS_KV_LAYOUT_METAL

#include <metal_stdlib>
using namespace metal;

// Rows of a step are tokens of several sequences, each at a position of its own.
constant bool ROW_SEQUENCES [[function_constant(90)]];

// Positions side by side.
constant constexpr uint KEY_TILE = 32;

// Numbers of a block.
constant constexpr uint KV_BLOCK = 32;

struct KeyBlocksQ8 {
    half scales[KEY_TILE];
    char numbers[KV_BLOCK * KEY_TILE];
};

struct ValueBlockQ8 {
    half scale;
    char numbers[KV_BLOCK];
};

struct KeyBlocksQ4 {
    half scales[KEY_TILE];
    uchar numbers[KV_BLOCK / 2 * KEY_TILE];
};

struct ValueBlockQ4 {
    half scale;
    uchar numbers[KV_BLOCK / 2];
};

// Names of the types with blocks.
struct kv_q8_0 {};
struct kv_q4_0 {};
struct kv_f16_q8_0 {};
struct kv_f16_q4_0 {};
struct kv_q8_0_f16 {};
struct kv_q8_0_q4_0 {};

// Elements of a cache of numbers, and how to load them. `tile` has the keys of 32 positions of a head, `row` the values
// of one.
template <typename KV>
struct Cached {
    typedef KV Key;
    typedef KV Value;
    // Elements of a tile, and of a row.
    static uint tile_size(uint head_size) {
        return head_size * KEY_TILE;
    }
    static uint row_size(uint head_size) {
        return head_size;
    }
    static float key(device const Key* tile, uint i, uint position) {
        return float(tile[i * KEY_TILE + position]);
    }
    static float value(device const Value* row, uint i) {
        return float(row[i]);
    }
};

template <>
struct Cached<kv_q8_0> {
    typedef KeyBlocksQ8 Key;
    typedef ValueBlockQ8 Value;
    static uint tile_size(uint head_size) {
        return head_size / KV_BLOCK;
    }
    static uint row_size(uint head_size) {
        return head_size / KV_BLOCK;
    }
    // Number i of a block, without the scale.
    static float2 scaled_pair(device const Key& blocks, uint i, uint position) {
        return float2(float(blocks.numbers[i * KEY_TILE + position]),
                      float(blocks.numbers[(i + KV_BLOCK / 2) * KEY_TILE + position]));
    }
    static float key(device const Key* tile, uint i, uint position) {
        device const Key& blocks = tile[i / KV_BLOCK];
        return float(blocks.scales[position]) * float(blocks.numbers[i % KV_BLOCK * KEY_TILE + position]);
    }
    static float value(device const Value* row, uint i) {
        device const Value& block = row[i / KV_BLOCK];
        return float(block.scale) * float(block.numbers[i % KV_BLOCK]);
    }
};

template <>
struct Cached<kv_q4_0> {
    typedef KeyBlocksQ4 Key;
    typedef ValueBlockQ4 Value;
    static uint tile_size(uint head_size) {
        return head_size / KV_BLOCK;
    }
    static uint row_size(uint head_size) {
        return head_size / KV_BLOCK;
    }
    static float2 scaled_pair(device const Key& blocks, uint i, uint position) {
        uint byte = blocks.numbers[i * KEY_TILE + position];
        return float2(float(int(byte & 15) - 8), float(int(byte >> 4) - 8));
    }
    static float key(device const Key* tile, uint i, uint position) {
        device const Key& blocks = tile[i / KV_BLOCK];
        uint byte = blocks.numbers[i % (KV_BLOCK / 2) * KEY_TILE + position];
        return float(blocks.scales[position]) * float(int(byte >> (i / (KV_BLOCK / 2) % 2 * 4) & 15) - 8);
    }
    static float value(device const Value* row, uint i) {
        device const Value& block = row[i / KV_BLOCK];
        uint byte = block.numbers[i % (KV_BLOCK / 2)];
        return float(block.scale) * float(int(byte >> (i / (KV_BLOCK / 2) % 2 * 4) & 15) - 8);
    }
};

// Keys of the type K, and values of the type V.
template <typename K, typename V>
struct CachedApart {
    typedef typename Cached<K>::Key Key;
    typedef typename Cached<V>::Value Value;
    static uint tile_size(uint head_size) {
        return Cached<K>::tile_size(head_size);
    }
    static uint row_size(uint head_size) {
        return Cached<V>::row_size(head_size);
    }
    static float key(device const Key* tile, uint i, uint position) {
        return Cached<K>::key(tile, i, position);
    }
    static float value(device const Value* row, uint i) {
        return Cached<V>::value(row, i);
    }
};

template <>
struct Cached<kv_f16_q8_0> : CachedApart<half, kv_q8_0> {};
template <>
struct Cached<kv_f16_q4_0> : CachedApart<half, kv_q4_0> {};
template <>
struct Cached<kv_q8_0_f16> : CachedApart<kv_q8_0, half> {};
template <>
struct Cached<kv_q8_0_q4_0> : CachedApart<kv_q8_0, kv_q4_0> {};

// A head of a sequence in the cache: `head` counts the heads of all sequences before it, too.
template <typename KV>
inline ulong key_tile(ulong head, uint position, uint capacity, uint head_size) {
    return (head * (capacity / KEY_TILE) + position % capacity / KEY_TILE) * Cached<KV>::tile_size(head_size);
}

template <typename KV>
inline ulong value_row(ulong head, uint position, uint capacity, uint head_size) {
    return (head * capacity + position % capacity) * Cached<KV>::row_size(head_size);
}

// Index of number i of a key that is not in blocks.
template <typename KV>
inline ulong key_index(ulong head, uint position, uint i, uint capacity, uint head_size) {
    return key_tile<KV>(head, position, capacity, head_size) + i * KEY_TILE + position % KEY_TILE;
}

// Index of number i of a value that is not in blocks.
template <typename KV>
inline ulong value_index(ulong head, uint position, uint i, uint capacity, uint head_size) {
    return value_row<KV>(head, position, capacity, head_size) + i;
}

// The largest magnitude of a block, of which each lane has a number. As integers, so that NaN is the largest: fast math
// assumes that there is none.
inline uint largest_bits(float number) {
    return simd_max(as_type<uint>(number) & 0x7fffffffu);
}

// A scale for half, at most its largest number; NaN for blocks with an infinity or a NaN.
inline half block_scale(float scale, uint bits) {
    return bits < 0x7f800000u ? half(clamp(scale, -65504.0f, 65504.0f)) : as_type<half>(ushort(0x7e00));
}

// number / scale, or 0 for blocks of zeros, or nearly, and for those with an infinity or a NaN.
inline float steps_of(float number, half scale, uint bits) {
    return bits < 0x7f800000u && float(scale) != 0.0f ? number * (1.0f / float(scale)) : 0.0f;
}

// Rounds a block to eight bits: one number of each lane.
struct RoundedQ8 {
    half scale;
    char q;
};

inline RoundedQ8 rounded_q8(float number) {
    uint bits = largest_bits(number);
    half scale = block_scale(as_type<float>(bits) * (1.0f / 127.0f), bits);
    int q = int(rint(clamp(steps_of(number, scale, bits), -127.0f, 127.0f)));
    return RoundedQ8{scale, char(q)};
}

// Rounds a block to four bits. The number farthest from 0 is exact, or nearly: it becomes −8. Lanes below 16 have the
// bytes.
struct RoundedQ4 {
    half scale;
    uchar byte;
};

inline RoundedQ4 rounded_q4(float number) {
    uint bits = largest_bits(number);
    uint sign = simd_max((as_type<uint>(number) & 0x7fffffffu) == bits ? as_type<uint>(number) >> 31 : 0u);
    float extreme = sign != 0 ? -as_type<float>(bits) : as_type<float>(bits);
    half scale = block_scale(extreme * -0.125f, bits);
    uint q = uint(clamp(steps_of(number, scale, bits) + 8.5f, 0.0f, 15.0f));
    uint high = simd_shuffle_down(q, ushort(KV_BLOCK / 2));
    return RoundedQ4{scale, uchar(q | high << 4)};
}

// Store block b of a key and of a value, by the 32 lanes of a simdgroup. `position` is that in the tile.
inline void store_key(float number, device half* tile, uint b, uint position, uint lane) {
    tile[(b * KV_BLOCK + lane) * KEY_TILE + position] = half(number);
}

inline void store_value(float number, device half* row, uint b, uint lane) {
    row[b * KV_BLOCK + lane] = half(number);
}

inline void store_key(float number, device KeyBlocksQ8* tile, uint b, uint position, uint lane) {
    device KeyBlocksQ8& blocks = tile[b];
    RoundedQ8 rounded = rounded_q8(number);
    blocks.numbers[lane * KEY_TILE + position] = rounded.q;
    if (lane == 0) {
        blocks.scales[position] = rounded.scale;
    }
}

inline void store_value(float number, device ValueBlockQ8* row, uint b, uint lane) {
    device ValueBlockQ8& block = row[b];
    RoundedQ8 rounded = rounded_q8(number);
    block.numbers[lane] = rounded.q;
    if (lane == 0) {
        block.scale = rounded.scale;
    }
}

inline void store_key(float number, device KeyBlocksQ4* tile, uint b, uint position, uint lane) {
    device KeyBlocksQ4& blocks = tile[b];
    RoundedQ4 rounded = rounded_q4(number);
    if (lane < KV_BLOCK / 2) {
        blocks.numbers[lane * KEY_TILE + position] = rounded.byte;
    }
    if (lane == 0) {
        blocks.scales[position] = rounded.scale;
    }
}

inline void store_value(float number, device ValueBlockQ4* row, uint b, uint lane) {
    device ValueBlockQ4& block = row[b];
    RoundedQ4 rounded = rounded_q4(number);
    if (lane < KV_BLOCK / 2) {
        block.numbers[lane] = rounded.byte;
    }
    if (lane == 0) {
        block.scale = rounded.scale;
    }
}

#endif
