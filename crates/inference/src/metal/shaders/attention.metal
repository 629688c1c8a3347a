// Attention over a KV cache in one pass (flash), with grouped queries:
//
//     y[r] = Σ_p softmax_p(cap(SCALE · q[r] · k[p])) · v[p],   cap(s) = s, or SOFT_CAP · tanh(s / SOFT_CAP)
//
// over the positions p that row r sees: up to its own, and with a WINDOW only the last WINDOW of these. With SINKS, the
// softmax has one more score, a learned number of the head, which has no value: weights add up to less than 1.
//
//     attention_decode         one token: rows are the heads that share keys and values
//     attention_decode_split   the same for a part of the positions, for long caches and many cores
//     attention_decode_wide    the same by several simdgroups with wide loads, for GPUs
//     attention_reduce         joins the parts
//     attention_prefill        many tokens, causal: rows are the tokens
//
// The cache has the layout of include/kv_layout.metal, and already contains the tokens' own keys and values.
//
// A simdgroup has QUERIES queries and goes through the cache 32 positions at a time. First, lanes are positions: keys
// and queries are multiplied number by number, the query's number is uniform, and each lane ends up with the score of
// its position, as softmax needs it. Then lanes are numbers of the values, and the weight of a position is uniform. So
// each key and value is loaded once for QUERIES queries, from adjacent addresses, and only the maximum and the sum
// cross lanes. Queries and weights are in threadgroup memory; a threadgroup is one simdgroup, so there are no barriers
// between simdgroups.
//
// Sums are float; results are the same bits in every run. For a row that sees nothing (masked parts), scores are LOWEST
// instead of minus infinity; their contribution vanishes with the first real score.
#include "common.metal"
#include "kv_layout.metal"
#include "packed.metal"

constant uint HEAD_DIM [[function_constant(3)]];   // numbers of a head: 32 to 256
constant uint HEADS [[function_constant(6)]];      // of queries
constant uint GROUP [[function_constant(7)]];      // heads that share keys and values
constant uint QUERIES [[function_constant(8)]];    // 1 to 8 per simdgroup, QUERIES · HEAD_DIM <= 1024; decode: divides GROUP
constant float SCALE [[function_constant(9)]];     // usually 1 / √HEAD_DIM
constant float SOFT_CAP [[function_constant(10)]]; // 0: none
constant uint WINDOW [[function_constant(11)]];    // 0: none

constant uint TOGETHER [[function_constant(35)]];  // keys or values that a lane loads before it uses one: 1 to 16, divides
                                                   // HEAD_DIM; many on a GPU, where a load takes long

constant constexpr uint MAX_QUERIES = 8;
constant constexpr uint MAX_TOGETHER = 16;
constant constexpr uint MIN_HEAD_DIM = SIMD_WIDTH;
constant constexpr uint MAX_HEAD_DIM = 256;
// Maximum of QUERIES · HEAD_DIM. The memory that a kernel reserves limits the simdgroups that are resident on a GPU
// core: 4 KiB are enough if heads longer than those of the models here are taken four at a time.
constant constexpr uint MAX_QUERY_NUMBERS = 1024;
constant constexpr uint MAX_PIECES = MAX_HEAD_DIM / SIMD_WIDTH;
constant constexpr float LOWEST = -1e30f;

// Loads of keys in blocks that do not wait for each other.
constant constexpr uint BLOCK_LOADS = 8;

// Parts whose numbers attention_reduce loads or leaves out together: half of a simdgroup's.
constant constexpr uint PARTS_TOGETHER = 16;

// Heads of keys and values.
constant uint KV_HEADS = HEADS / GROUP;

// Pieces of 32 numbers per head.
constant uint PIECES = (HEAD_DIM + SIMD_WIDTH - 1) / SIMD_WIDTH;

// Start of piece c. If HEAD_DIM is not a multiple of 32, the last piece overlaps the previous one instead of being
// shorter.
inline uint piece(uint c) {
    return min(c * SIMD_WIDTH, HEAD_DIM - SIMD_WIDTH);
}

// The queries of a simdgroup.
struct Rows {
    uint count;   // at most QUERIES; the last row is repeated for those that are missing
    uint stride;  // numbers from one to the next
    uint last;    // last position that the first row sees
    uint advance; // further positions that each next row sees: 0 for heads, 1 for tokens

    uint clamped(uint r) const {
        return min(r, count - 1);
    }
    uint last_of(uint r) const {
        return last + clamped(r) * advance;
    }
};

// First position that the window includes, if the last one is `last`.
inline uint first_seen(uint last) {
    return WINDOW == 0 || last < WINDOW ? 0 : last + 1 - WINDOW;
}

// State after some of the positions.
struct Attended {
    float largest[MAX_QUERIES];           // score
    float total[MAX_QUERIES];             // Σ e^(score - largest)
    float sums[MAX_QUERIES * MAX_PIECES]; // Σ e^(score - largest) · v, number `lane` of each piece
};

// score[r] = q[r] · k at position `lane`; past the end, the score of whatever the cache contains there.
template <typename KV>
struct KeyProducts {
    static void multiply(device const KV* k, threadgroup const float* queries, uint lane, thread float* score) {
        for (uint first = 0; first < HEAD_DIM; first += TOGETHER) {
            float keys[MAX_TOGETHER];
            for (uint j = 0; j < TOGETHER; j++) {
                keys[j] = float(k[(first + j) * KEY_TILE + lane]);
            }
            for (uint j = 0; j < TOGETHER; j++) {
                for (uint r = 0; r < QUERIES; r++) {
                    score[r] += keys[j] * queries[r * HEAD_DIM + first + j];
                }
            }
        }
    }
};

// Keys in blocks: the scale of a block is a factor of its sum.
template <typename KV>
struct BlockProducts {
    static void multiply(device const typename Cached<KV>::Key* k, threadgroup const float* queries, uint lane,
                         thread float* score) {
        for (uint b = 0; b < HEAD_DIM / KV_BLOCK; b++) {
            float sums[MAX_QUERIES];
            for (uint r = 0; r < QUERIES; r++) {
                sums[r] = 0.0f;
            }
            for (uint first = 0; first < KV_BLOCK / 2; first += BLOCK_LOADS) {
                float2 keys[BLOCK_LOADS];
                for (uint j = 0; j < BLOCK_LOADS; j++) {
                    keys[j] = Cached<KV>::scaled_pair(k[b], first + j, lane);
                }
                for (uint j = 0; j < BLOCK_LOADS; j++) {
                    uint i = b * KV_BLOCK + first + j;
                    for (uint r = 0; r < QUERIES; r++) {
                        sums[r] += keys[j].x * queries[r * HEAD_DIM + i] + keys[j].y * queries[r * HEAD_DIM + i + KV_BLOCK / 2];
                    }
                }
            }
            float scale = float(k[b].scales[lane]);
            for (uint r = 0; r < QUERIES; r++) {
                score[r] += scale * sums[r];
            }
        }
    }
};

template <>
struct KeyProducts<kv_q8_0> : BlockProducts<kv_q8_0> {};
template <>
struct KeyProducts<kv_q4_0> : BlockProducts<kv_q4_0> {};
template <>
struct KeyProducts<kv_f16_q8_0> : KeyProducts<half> {};
template <>
struct KeyProducts<kv_f16_q4_0> : KeyProducts<half> {};
template <>
struct KeyProducts<kv_q8_0_f16> : BlockProducts<kv_q8_0> {};
template <>
struct KeyProducts<kv_q8_0_q4_0> : BlockProducts<kv_q8_0> {};

// Adds weight times value for the positions `begin` … `end` of 32, two pieces at a time.
template <typename KV>
inline void add_values(device const typename Cached<KV>::Value* v, uint begin, uint end, threadgroup const float* weights, uint lane,
                       thread Attended& result) {
    for (uint c = 0; c < PIECES; c += 2) {
        bool is_pair = c + 1 < PIECES;
        float low[MAX_QUERIES], high[MAX_QUERIES];
        for (uint r = 0; r < QUERIES; r++) {
            low[r] = result.sums[r * MAX_PIECES + c];
            high[r] = is_pair ? result.sums[r * MAX_PIECES + c + 1] : 0.0f;
        }
        for (uint p = begin; p < end; p += TOGETHER) {
            float first[MAX_TOGETHER], second[MAX_TOGETHER];
            for (uint j = 0; j < TOGETHER; j++) {
                // Past the end, the last value is loaded again.
                device const typename Cached<KV>::Value* row = v + min(p + j, end - 1) * Cached<KV>::row_size(HEAD_DIM);
                first[j] = Cached<KV>::value(row, piece(c) + lane);
                second[j] = is_pair ? Cached<KV>::value(row, piece(c + 1) + lane) : 0.0f;
            }
            for (uint j = 0; j < TOGETHER; j++) {
                for (uint r = 0; r < QUERIES; r++) {
                    float weight = p + j < end ? weights[r * KEY_TILE + min(p + j, end - 1)] : 0.0f;
                    low[r] += weight * first[j];
                    high[r] += weight * second[j];
                }
            }
        }
        for (uint r = 0; r < QUERIES; r++) {
            result.sums[r * MAX_PIECES + c] = low[r];
            if (is_pair) {
                result.sums[r * MAX_PIECES + c + 1] = high[r];
            }
        }
    }
}

// The keys and values of a head.
template <typename KV>
struct HeadCache {
    device const typename Cached<KV>::Key* keys;
    device const typename Cached<KV>::Value* values;
    uint tiles; // of 32 positions

    // The tile of the cache with the positions from `first` on, a multiple of 32.
    uint tile(uint first) const {
        return first / KEY_TILE % tiles;
    }
};

// A head of the cache; `head` counts those of all sequences before it, too.
template <typename KV>
inline HeadCache<KV> head_cache(device const typename Cached<KV>::Key* keys, device const typename Cached<KV>::Value* values,
                                ulong head, uint capacity) {
    return HeadCache<KV>{keys + key_tile<KV>(head, 0, capacity, HEAD_DIM), values + value_row<KV>(head, 0, capacity, HEAD_DIM),
                         capacity / KEY_TILE};
}

// Attends to the positions `begin` … `end` − 1, as far as each row sees them. `queries` has room for QUERIES · HEAD_DIM
// numbers, `weights` for QUERIES · KEY_TILE.
template <typename T, typename KV>
inline void attend(device const T* q, Rows rows, HeadCache<KV> cache, uint begin, uint end, threadgroup float* queries,
                   threadgroup float* weights, uint lane, thread Attended& result) {
    for (uint r = 0; r < QUERIES; r++) {
        result.largest[r] = LOWEST;
        result.total[r] = 0.0f;
        for (uint c = 0; c < PIECES; c++) {
            result.sums[r * MAX_PIECES + c] = 0.0f;
            uint i = piece(c) + lane;
            queries[r * HEAD_DIM + i] = SCALE * float(q[ulong(rows.clamped(r)) * rows.stride + i]);
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint first = begin / KEY_TILE * KEY_TILE; first < end; first += KEY_TILE) {
        ulong tile = cache.tile(first);
        float score[MAX_QUERIES];
        for (uint r = 0; r < QUERIES; r++) {
            score[r] = 0.0f;
        }
        KeyProducts<KV>::multiply(cache.keys + tile * Cached<KV>::tile_size(HEAD_DIM), queries, lane, score);
        uint position = first + lane;
        for (uint r = 0; r < QUERIES; r++) {
            uint last = min(rows.last_of(r), end - 1);
            bool is_seen = position <= last && position >= max(begin, first_seen(rows.last_of(r)));
            float capped = SOFT_CAP > 0.0f ? SOFT_CAP * precise::tanh(score[r] / SOFT_CAP) : score[r];
            float s = is_seen ? capped : LOWEST;
            float largest = max(result.largest[r], simd_max(s));
            float correction = exp(result.largest[r] - largest);
            float weight = exp(s - largest);
            result.largest[r] = largest;
            result.total[r] = result.total[r] * correction + simd_sum(weight);
            weights[r * KEY_TILE + lane] = weight;
            for (uint c = 0; c < PIECES; c++) {
                result.sums[r * MAX_PIECES + c] *= correction;
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        uint skipped = first < begin ? begin - first : 0;
        add_values<KV>(cache.values + tile * KEY_TILE * Cached<KV>::row_size(HEAD_DIM), skipped, min(KEY_TILE, end - first),
                       weights, lane, result);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

constant bool SINKS [[function_constant(70)]];

// The weight of a head's sink, if the largest score is `largest`. A sink so far above all scores that the weight would be
// infinite leaves nothing of the values in any case.
inline float sink_weight(float sink, float largest) {
    return exp(min(sink - largest, 80.0f));
}

// `sinks` are those of the rows, `sink_step` apart.
template <typename T>
inline void store_rows(device T* y, Rows rows, uint lane, device const float* sinks, uint sink_step, thread Attended& result) {
    for (uint r = 0; r < QUERIES; r++) {
        if (SINKS) {
            result.total[r] += sink_weight(sinks[rows.clamped(r) * sink_step], result.largest[r]);
        }
        for (uint c = 0; c < PIECES; c++) {
            uint i = piece(c) + lane;
            if (r < rows.count && i >= c * SIMD_WIDTH) {
                y[ulong(r) * rows.stride + i] = T(result.sums[r * MAX_PIECES + c] / result.total[r]);
            }
        }
    }
}

struct DecodeParams {
    uint length;   // positions in the cache, with that of the token
    uint capacity; // positions that a head of the cache has room for, a multiple of 32
    uint sequence; // of the token
};

// buffers  0 q device const T [rows, HEADS, HEAD_DIM]   1 keys, 2 values device const, the cache
//          3 y device T [rows, HEADS, HEAD_DIM]   4 p constant DecodeParams
//          5 positions, 6 sequences device const uint [rows], with ROW_SEQUENCES: of the token of each row. Otherwise
//          there is one row.
//          7 sinks device const float [HEADS], with SINKS
// grid     HEADS / QUERIES × rows threadgroups of 32 threads
// moves    the bytes of HEADS / GROUP · length keys and values, when QUERIES is GROUP
template <typename T, typename KV>
kernel void attention_decode(device const T* q [[buffer(0)]],
                             device const typename Cached<KV>::Key* keys [[buffer(1)]],
                             device const typename Cached<KV>::Value* values [[buffer(2)]],
                             device T* y [[buffer(3)]],
                             constant DecodeParams& p [[buffer(4)]],
                             device const uint* positions [[buffer(5), function_constant(ROW_SEQUENCES)]],
                             device const uint* sequences [[buffer(6), function_constant(ROW_SEQUENCES)]],
                             device const float* sinks [[buffer(7), function_constant(SINKS)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float queries[MAX_QUERY_NUMBERS];
    threadgroup float weights[MAX_QUERIES * KEY_TILE];
    uint head = group.x * QUERIES, length = ROW_SEQUENCES ? positions[group.y] + 1 : p.length;
    uint sequence = ROW_SEQUENCES ? sequences[group.y] : p.sequence;
    ulong at = (ulong(group.y) * HEADS + head) * HEAD_DIM;
    Rows rows = {QUERIES, HEAD_DIM, length - 1, 0};
    HeadCache<KV> cache = head_cache<KV>(keys, values, ulong(sequence) * KV_HEADS + head / GROUP, p.capacity);
    Attended result;
    attend(q + at, rows, cache, first_seen(rows.last), length, queries, weights, lane, result);
    store_rows(y + at, rows, lane, SINKS ? sinks + head : nullptr, 1, result);
}

struct DecodeSplitParams {
    uint length;
    uint capacity;
    uint sequence;
    uint splits; // parts that the positions are divided into
};

// buffers  0 q device const T [rows, HEADS, HEAD_DIM]   1 keys, 2 values device const, the cache
//          3 parts device float [rows, HEADS, splits, HEAD_DIM + 2]: the sums, then the largest score and the total; for
//            a part without positions, a total of 0
//          4 p constant DecodeSplitParams   5 positions, 6 sequences as above
// grid     HEADS / QUERIES × splits × rows threadgroups of 32 threads; a part has whole tiles of 32 positions, or none
template <typename T, typename KV>
kernel void attention_decode_split(device const T* q [[buffer(0)]],
                                   device const typename Cached<KV>::Key* keys [[buffer(1)]],
                                   device const typename Cached<KV>::Value* values [[buffer(2)]],
                                   device float* parts [[buffer(3)]],
                                   constant DecodeSplitParams& p [[buffer(4)]],
                                   device const uint* positions [[buffer(5), function_constant(ROW_SEQUENCES)]],
                                   device const uint* sequences [[buffer(6), function_constant(ROW_SEQUENCES)]],
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float queries[MAX_QUERY_NUMBERS];
    threadgroup float weights[MAX_QUERIES * KEY_TILE];
    uint head = group.x * QUERIES, length = ROW_SEQUENCES ? positions[group.z] + 1 : p.length;
    uint sequence = ROW_SEQUENCES ? sequences[group.z] : p.sequence;
    ulong row_head = ulong(group.z) * HEADS + head;
    Rows rows = {QUERIES, HEAD_DIM, length - 1, 0};
    HeadCache<KV> cache = head_cache<KV>(keys, values, ulong(sequence) * KV_HEADS + head / GROUP, p.capacity);
    uint start = first_seen(rows.last), first_tile = start / KEY_TILE;
    uint tiles = (length + KEY_TILE - 1) / KEY_TILE - first_tile, own = (tiles + p.splits - 1) / p.splits;
    uint begin = max(start, (first_tile + group.y * own) * KEY_TILE);
    uint end = min(length, (first_tile + (group.y + 1) * own) * KEY_TILE);
    // A part without positions has a total of 0, and no sums.
    if (begin >= end) {
        if (lane < QUERIES) {
            parts[((row_head + lane) * p.splits + group.y) * (HEAD_DIM + 2) + HEAD_DIM + 1] = 0.0f;
        }
        return;
    }
    Attended result;
    attend(q + row_head * HEAD_DIM, rows, cache, begin, end, queries, weights, lane, result);
    for (uint r = 0; r < QUERIES; r++) {
        device float* part = parts + ((row_head + r) * p.splits + group.y) * (HEAD_DIM + 2);
        for (uint c = 0; c < PIECES; c++) {
            if (piece(c) + lane >= c * SIMD_WIDTH) {
                part[piece(c) + lane] = result.sums[r * MAX_PIECES + c];
            }
        }
        if (lane == 0) {
            part[HEAD_DIM] = result.largest[r];
            part[HEAD_DIM + 1] = result.total[r];
        }
    }
}

// The numbers of 32 parts, from `first` on, as far as there are any. Loads do not wait for each other; past the end, the
// last part is loaded again.
inline void load_parts(device const float* numbers, uint first, uint splits, thread float* loaded) {
    for (uint s = 0; s < SIMD_WIDTH; s += PARTS_TOGETHER) {
        if (first + s < splits) {
            for (uint i = s; i < s + PARTS_TOGETHER; i++) {
                loaded[i] = numbers[min(first + i, splits - 1) * (HEAD_DIM + 2)];
            }
        }
    }
}

// HEADS are those of all rows here.
//
// buffers  0 parts device const float [HEADS, splits, HEAD_DIM + 2]   1 y device T [HEADS, HEAD_DIM]
//          2 splits constant uint
//          3 packed_y device PackedBlock [HEADS, HEAD_DIM / 32] instead of y, with PACKED_Y; HEAD_DIM a multiple of 32
//          4 sinks device const float, those of one row, with SINKS
// grid     PIECES × HEADS threadgroups of 32 threads: 32 numbers of a head
template <typename T>
kernel void attention_reduce(device const float* parts [[buffer(0)]],
                             device T* y [[buffer(1), function_constant(NUMBERS_Y)]],
                             constant uint& splits [[buffer(2)]],
                             device PackedBlock* packed_y [[buffer(3), function_constant(PACKED_Y)]],
                             device const float* sinks [[buffer(4), function_constant(SINKS)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
    uint head = group.y, first_number = piece(group.x);
    device const float* own = parts + ulong(head) * splits * (HEAD_DIM + 2);
    device const float* numbers = own + first_number + lane;
    // Numbers of the first parts arrive while their weights are computed.
    float loaded[SIMD_WIDTH];
    load_parts(numbers, 0, splits, loaded);
    float largest = LOWEST;
    uint used = 0;
    for (uint s = lane; s < splits; s += SIMD_WIDTH) {
        bool is_empty = own[s * (HEAD_DIM + 2) + HEAD_DIM + 1] == 0.0f;
        largest = max(largest, is_empty ? LOWEST : own[s * (HEAD_DIM + 2) + HEAD_DIM]);
        used = is_empty ? used : s + 1;
    }
    largest = simd_max(largest);
    // Parts without positions are the last ones.
    used = simd_max(used);
    float total = 0.0f, sum = 0.0f;
    // Lanes are 32 parts, then numbers of the result.
    for (uint first = 0; first < used; first += SIMD_WIDTH) {
        uint part = min(first + lane, splits - 1) * (HEAD_DIM + 2);
        float part_total = first + lane < splits ? own[part + HEAD_DIM + 1] : 0.0f;
        float weight = part_total == 0.0f ? 0.0f : exp(own[part + HEAD_DIM] - largest);
        total += simd_sum(weight * part_total);
        for (uint s = 0; s < SIMD_WIDTH; s += PARTS_TOGETHER) {
            if (first + s < used) {
                for (uint i = s; i < s + PARTS_TOGETHER; i++) {
                    // Nothing is stored for parts without positions.
                    float own_weight = simd_shuffle(weight, ushort(i));
                    sum += own_weight > 0.0f ? own_weight * loaded[i] : 0.0f;
                }
            }
        }
        load_parts(numbers, first + SIMD_WIDTH, splits, loaded);
    }
    if (SINKS) {
        total += sink_weight(sinks[head % HEADS], largest);
    }
    if (PACKED_Y) {
        pack(sum / total, packed_y + (head * HEAD_DIM + first_number) / PACKED_NUMBERS, lane);
    } else if (first_number + lane >= group.x * SIMD_WIDTH) {
        y[head * HEAD_DIM + first_number + lane] = T(sum / total);
    }
}

struct PrefillParams {
    uint tokens;   // queries
    uint position; // of the first token: positions in the cache before it
    uint capacity; // positions that a head of the cache has room for, a multiple of 32
    uint sequence; // of the tokens
};

// buffers  0 q device const T [tokens, HEADS, HEAD_DIM]   1 keys, 2 values device const, the cache
//          3 y device T [tokens, HEADS, HEAD_DIM]   4 p constant PrefillParams
//          5 sinks device const float [HEADS], with SINKS
// grid     ceil(tokens / QUERIES) × HEADS threadgroups of 32 threads: the tokens of one head first, whose keys and values
//          stay in a near cache
template <typename T, typename KV>
kernel void attention_prefill(device const T* q [[buffer(0)]],
                              device const typename Cached<KV>::Key* keys [[buffer(1)]],
                              device const typename Cached<KV>::Value* values [[buffer(2)]],
                              device T* y [[buffer(3)]],
                              constant PrefillParams& p [[buffer(4)]],
                              device const float* sinks [[buffer(5), function_constant(SINKS)]],
                              uint2 group [[threadgroup_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float queries[MAX_QUERY_NUMBERS];
    threadgroup float weights[MAX_QUERIES * KEY_TILE];
    uint token = group.x * QUERIES, head = group.y;
    Rows rows = {min(QUERIES, p.tokens - token), HEADS * HEAD_DIM, p.position + token, 1};
    HeadCache<KV> cache = head_cache<KV>(keys, values, ulong(p.sequence) * KV_HEADS + head / GROUP, p.capacity);
    ulong at = (ulong(token) * HEADS + head) * HEAD_DIM;
    Attended result;
    attend(q + at, rows, cache, first_seen(rows.last), rows.last_of(rows.count - 1) + 1, queries, weights, lane, result);
    store_rows(y + at, rows, lane, SINKS ? sinks + head : nullptr, 0, result);
}

// Loads of 16 bytes per lane, for GPUs: as attention_decode_split, with other roles of the lanes.
//
// Keys: a load of a simdgroup is COUNT numbers of the 32 keys of a tile, where a lane has COUNT positions of one number.
// The products of a position are then in the lanes whose distance is a multiple of 32 / COUNT; they are added so that
// each lane ends up with one position. Values: a load is as many rows as fit, and a lane has COUNT numbers of every n-th
// position; the sums of these lanes are added once, at the end. Simdgroups take turns with the tiles of a part.
//
// Loads go in batches, first those of a tile's keys, then those of its values. Two batches are in flight at any time, across
// the ends of tiles, too: as soon as one is used, its registers take the next but one.

constant constexpr uint MAX_WIDE_SIMDGROUPS = 4;
constant constexpr uint MAX_WIDE_QUERIES = 4;
// Maximum of QUERIES · HEAD_DIM.
constant constexpr uint MAX_WIDE_NUMBERS = 512;
// Loads of a batch; the keys of a tile are a multiple of them, and so are its values.
constant constexpr uint LOADS = 8;

// The numbers of a load.
template <typename KV>
struct Loaded;

template <>
struct Loaded<float> {
    static constant constexpr uint COUNT = 4;
    static float number(uint4 loaded, uint i) {
        return as_type<float4>(loaded)[i];
    }
};

template <>
struct Loaded<half> {
    static constant constexpr uint COUNT = 8;
    static float number(uint4 loaded, uint i) {
        return float(as_type<half2>(loaded[i / 2])[i % 2]);
    }
};

// The sum of values[i] over the lanes of the same remainder by 32 / COUNT; i is given by the bits of the lane from the
// highest on.
template <uint COUNT>
inline float scattered_sum(thread float* values, uint lane) {
    uint count = COUNT;
    for (uint distance = SIMD_WIDTH / 2; distance >= SIMD_WIDTH / COUNT; distance /= 2) {
        count /= 2;
        bool is_upper = (lane & distance) != 0;
        for (uint i = 0; i < count; i++) {
            // By values: a choice between two addresses would keep the array in memory.
            float low = values[i], high = values[i + count];
            float sent = is_upper ? low : high, kept = is_upper ? high : low;
            values[i] = kept + simd_shuffle_xor(sent, ushort(distance));
        }
    }
    return values[0];
}

// The i of the lane in scattered_sum.
template <uint COUNT>
inline uint scattered_index(uint lane) {
    uint i = 0;
    for (uint distance = SIMD_WIDTH / 2; distance >= SIMD_WIDTH / COUNT; distance /= 2) {
        i = 2 * i + ((lane & distance) != 0 ? 1 : 0);
    }
    return i;
}

// The cache of a head, as loads of 16 bytes. `chunks` is the number of loads in a row of values, and of rows of 32 keys.
template <typename KV>
struct WideCache {
    HeadCache<KV> cache;
    uint length; // positions
    uint last;   // tile
    uint chunks;

    // Batch b of the tiles `tile`, then `next`.
    void load(uint tile, uint next, uint b, uint lane, thread uint4* loaded) const {
        uint batches = chunks / LOADS, rows = SIMD_WIDTH / chunks;
        // After the last tile, loads for nothing repeat it.
        uint own = min(b < 2 * batches ? tile : next, last), batch = b % (2 * batches);
        uint first = cache.tile(own * KEY_TILE) * KEY_TILE * chunks;
        device const uint4* keys = (device const uint4*)cache.keys;
        device const uint4* values = (device const uint4*)cache.values;
        // The cache may contain anything after its end: loads of values that nobody sees repeat the last one.
        uint last_row = min(KEY_TILE, length - own * KEY_TILE) - 1;
        for (uint j = 0; j < LOADS; j++) {
            if (batch < batches) {
                loaded[j] = keys[first + (batch * LOADS + j) * SIMD_WIDTH + lane];
            } else {
                uint row = min(((batch - batches) * LOADS + j) * rows + lane / chunks, last_row);
                loaded[j] = values[first + row * chunks + lane % chunks];
            }
        }
    }
};

// buffers  as attention_decode_split, the cache aligned to 16 bytes
// grid     HEADS / QUERIES × splits × rows threadgroups of 32 · SIMDGROUPS threads
// needs    QUERIES at most 4, QUERIES · HEAD_DIM at most 512; sizeof(KV) · HEAD_DIM a power of two from 128 to 512
template <typename T, typename KV>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_WIDE_SIMDGROUPS)]]
kernel void attention_decode_wide(device const T* q [[buffer(0)]],
                                  device const KV* keys [[buffer(1)]],
                                  device const KV* values [[buffer(2)]],
                                  device float* parts [[buffer(3)]],
                                  constant DecodeSplitParams& p [[buffer(4)]],
                                  device const uint* positions [[buffer(5), function_constant(ROW_SEQUENCES)]],
                                  device const uint* sequences [[buffer(6), function_constant(ROW_SEQUENCES)]],
                                  uint3 group [[threadgroup_position_in_grid]],
                                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                                  uint lane [[thread_index_in_simdgroup]]) {
    constexpr uint COUNT = Loaded<KV>::COUNT;
    threadgroup float queries[MAX_WIDE_NUMBERS]; // [HEAD_DIM][QUERIES]
    threadgroup float weights[MAX_WIDE_SIMDGROUPS * KEY_TILE * MAX_WIDE_QUERIES]; // [SIMDGROUPS][KEY_TILE][QUERIES]
    threadgroup float largest_scores[MAX_WIDE_SIMDGROUPS * MAX_WIDE_QUERIES], totals[MAX_WIDE_SIMDGROUPS * MAX_WIDE_QUERIES];
    threadgroup float joined[MAX_WIDE_SIMDGROUPS * MAX_WIDE_NUMBERS]; // [SIMDGROUPS][QUERIES][HEAD_DIM]
    uint head = group.x * QUERIES, thread_index = simdgroup * SIMD_WIDTH + lane, threads = SIMDGROUPS * SIMD_WIDTH;
    uint length = ROW_SEQUENCES ? positions[group.z] + 1 : p.length;
    uint sequence = ROW_SEQUENCES ? sequences[group.z] : p.sequence;
    ulong row_head = ulong(group.z) * HEADS + head;
    HeadCache<KV> cache = head_cache<KV>(keys, values, ulong(sequence) * KV_HEADS + head / GROUP, p.capacity);
    uint start = first_seen(length - 1), first_tile = start / KEY_TILE;
    uint tiles = (length + KEY_TILE - 1) / KEY_TILE - first_tile;
    // At least a tile for each simdgroup: short caches have few parts.
    uint own = max((tiles + p.splits - 1) / p.splits, SIMDGROUPS), own_first = first_tile + group.y * own;
    if (group.y * own >= tiles) {
        if (thread_index < QUERIES) {
            parts[((row_head + thread_index) * p.splits + group.y) * (HEAD_DIM + 2) + HEAD_DIM + 1] = 0.0f;
        }
        return;
    }
    uint chunks = HEAD_DIM / COUNT, rows = SIMD_WIDTH / chunks; // loads of a row of values, rows of a load
    WideCache<KV> wide = {cache, length, first_tile + tiles - 1, chunks};
    // They arrive while the queries are staged.
    uint4 loaded[2][LOADS];
    wide.load(own_first + simdgroup, own_first + simdgroup + SIMDGROUPS, 0, lane, loaded[0]);
    wide.load(own_first + simdgroup, own_first + simdgroup + SIMDGROUPS, 1, lane, loaded[1]);
    for (uint i = thread_index; i < QUERIES * HEAD_DIM; i += threads) {
        queries[i % HEAD_DIM * QUERIES + i / HEAD_DIM] = SCALE * float(q[row_head * HEAD_DIM + i]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    threadgroup float* own_weights = weights + simdgroup * KEY_TILE * QUERIES;
    uint position_in_tile = lane % (SIMD_WIDTH / COUNT) * COUNT + scattered_index<COUNT>(lane);
    uint batches = chunks / LOADS; // of keys, and of values
    float largest[MAX_WIDE_QUERIES], total[MAX_WIDE_QUERIES], sums[MAX_WIDE_QUERIES * COUNT];
    for (uint r = 0; r < QUERIES; r++) {
        largest[r] = LOWEST;
        total[r] = 0.0f;
        for (uint i = 0; i < COUNT; i++) {
            sums[r * COUNT + i] = 0.0f;
        }
    }
    for (uint tile = own_first + simdgroup; tile < min(own_first + own, first_tile + tiles); tile += SIMDGROUPS) {
        float score[MAX_WIDE_QUERIES * COUNT];
        for (uint i = 0; i < QUERIES * COUNT; i++) {
            score[i] = 0.0f;
        }
        for (uint b = 0; b < batches; b++) {
            for (uint j = 0; j < LOADS; j++) {
                uint number = (b * LOADS + j) * COUNT + lane / (SIMD_WIDTH / COUNT);
                for (uint r = 0; r < QUERIES; r++) {
                    float query = queries[number * QUERIES + r];
                    for (uint i = 0; i < COUNT; i++) {
                        score[r * COUNT + i] += query * Loaded<KV>::number(loaded[b % 2][j], i);
                    }
                }
            }
            wide.load(tile, tile + SIMDGROUPS, b + 2, lane, loaded[b % 2]);
        }
        uint position = tile * KEY_TILE + position_in_tile;
        bool is_seen = position < length && position >= start;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint r = 0; r < QUERIES; r++) {
            float sum = scattered_sum<COUNT>(score + r * COUNT, lane);
            float capped = SOFT_CAP > 0.0f ? SOFT_CAP * precise::tanh(sum / SOFT_CAP) : sum;
            float s = is_seen ? capped : LOWEST;
            float new_largest = max(largest[r], simd_max(s));
            float correction = exp(largest[r] - new_largest), weight = is_seen ? exp(s - new_largest) : 0.0f;
            largest[r] = new_largest;
            total[r] = total[r] * correction + simd_sum(weight);
            own_weights[position_in_tile * QUERIES + r] = weight;
            for (uint i = 0; i < COUNT; i++) {
                sums[r * COUNT + i] *= correction;
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (uint b = batches; b < 2 * batches; b++) {
            for (uint j = 0; j < LOADS; j++) {
                uint row = ((b - batches) * LOADS + j) * rows + lane / chunks;
                for (uint r = 0; r < QUERIES; r++) {
                    float weight = own_weights[row * QUERIES + r];
                    for (uint i = 0; i < COUNT; i++) {
                        sums[r * COUNT + i] += weight * Loaded<KV>::number(loaded[b % 2][j], i);
                    }
                }
            }
            wide.load(tile, tile + SIMDGROUPS, b + 2, lane, loaded[b % 2]);
        }
    }

    for (uint r = 0; r < QUERIES; r++) {
        for (uint i = 0; i < COUNT; i++) {
            for (uint distance = chunks; distance < SIMD_WIDTH; distance *= 2) {
                sums[r * COUNT + i] += simd_shuffle_xor(sums[r * COUNT + i], ushort(distance));
            }
            if (lane < chunks) {
                joined[(simdgroup * QUERIES + r) * HEAD_DIM + lane * COUNT + i] = sums[r * COUNT + i];
            }
        }
        if (lane == 0) {
            largest_scores[simdgroup * QUERIES + r] = largest[r];
            totals[simdgroup * QUERIES + r] = total[r];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_index; i < QUERIES * HEAD_DIM; i += threads) {
        uint r = i / HEAD_DIM;
        float most = LOWEST, sum = 0.0f, sum_of_weights = 0.0f;
        for (uint s = 0; s < SIMDGROUPS; s++) {
            most = max(most, largest_scores[s * QUERIES + r]);
        }
        for (uint s = 0; s < SIMDGROUPS; s++) {
            float weight = exp(largest_scores[s * QUERIES + r] - most);
            sum += weight * joined[s * QUERIES * HEAD_DIM + i];
            sum_of_weights += weight * totals[s * QUERIES + r];
        }
        device float* part = parts + ((row_head + r) * p.splits + group.y) * (HEAD_DIM + 2);
        part[i % HEAD_DIM] = sum;
        if (i % HEAD_DIM == 0) {
            part[HEAD_DIM] = most;
            part[HEAD_DIM + 1] = sum_of_weights;
        }
    }
}

#define INSTANTIATE_ATTENTION(name, T, KV)                                             \
    INSTANTIATE("attention_decode_" name, attention_decode, T, KV)                     \
    INSTANTIATE("attention_decode_split_" name, attention_decode_split, T, KV)         \
    INSTANTIATE("attention_prefill_" name, attention_prefill, T, KV)

// Activations, then the cache.
INSTANTIATE_ATTENTION("f32_kv_f16", float, half)
INSTANTIATE_ATTENTION("f16_kv_f16", half, half)
INSTANTIATE_ATTENTION("f32_kv_f32", float, float)
INSTANTIATE_ATTENTION("f16_kv_f32", half, float)
INSTANTIATE_ATTENTION("f32_kv_q8_0", float, kv_q8_0)
INSTANTIATE_ATTENTION("f16_kv_q8_0", half, kv_q8_0)
INSTANTIATE_ATTENTION("f32_kv_q4_0", float, kv_q4_0)
INSTANTIATE_ATTENTION("f16_kv_q4_0", half, kv_q4_0)
INSTANTIATE_ATTENTION("f32_kv_f16_q8_0", float, kv_f16_q8_0)
INSTANTIATE_ATTENTION("f32_kv_f16_q4_0", float, kv_f16_q4_0)
INSTANTIATE_ATTENTION("f32_kv_q8_0_f16", float, kv_q8_0_f16)
INSTANTIATE_ATTENTION("f32_kv_q8_0_q4_0", float, kv_q8_0_q4_0)
INSTANTIATE_ATTENTION("f16_kv_f16_q8_0", half, kv_f16_q8_0)
INSTANTIATE_ATTENTION("f16_kv_f16_q4_0", half, kv_f16_q4_0)
INSTANTIATE_ATTENTION("f16_kv_q8_0_f16", half, kv_q8_0_f16)
INSTANTIATE_ATTENTION("f16_kv_q8_0_q4_0", half, kv_q8_0_q4_0)
INSTANTIATE("attention_decode_wide_f32_kv_f16", attention_decode_wide, float, half)
INSTANTIATE("attention_decode_wide_f16_kv_f16", attention_decode_wide, half, half)
INSTANTIATE("attention_decode_wide_f32_kv_f32", attention_decode_wide, float, float)
INSTANTIATE("attention_decode_wide_f16_kv_f32", attention_decode_wide, half, float)
INSTANTIATE("attention_reduce_f32", attention_reduce, float)
INSTANTIATE("attention_reduce_f16", attention_reduce, half)
