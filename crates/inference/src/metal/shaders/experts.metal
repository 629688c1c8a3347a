// Mixtures of experts: each token is processed by the USED experts of EXPERT_COUNT that a router chooses for it.
//
//     route           chooses experts and their weights from the logits of the router
//     group_experts   sorts the tokens of a prompt by expert
//     gather_rows     copies their vectors in this order
//     sum_experts     adds the weighted results of each token's experts
//
// The products between them are those of include/gemv.metal and gemm.metal, with EXPERTS. A pair is a token with one of its
// experts. Few tokens need no order: each pair is a tile of its own. The order of pairs and of additions does not depend on
// the order in which threads run: results are the same bits in every run.
#include "common.metal"
#include "expert_tiles.metal"

constant uint EXPERT_COUNT [[function_constant(61)]];  // at most MAX_EXPERTS
constant uint USED [[function_constant(62)]];          // experts of a token: at most 32, and EXPERT_COUNT
constant uint ROUTING [[function_constant(63)]];       // function of the logits: ROUTING_…
constant bool NORMALIZED [[function_constant(64)]];    // weights of a token are divided by their sum
constant float ROUTING_SCALE [[function_constant(65)]]; // factor of the weights
constant bool SELECTION_BIAS [[function_constant(66)]];
constant bool SORTED [[function_constant(67)]];        // pairs are sorted by group_experts, otherwise each is a tile
constant bool UNSORTED = !SORTED;
constant bool EXPERT_RESIDUAL [[function_constant(68)]];
constant bool SHARED_EXPERT [[function_constant(15)]]; // an expert that all tokens use
constant bool SHARED_FACTOR [[function_constant(17)]]; // its result has a factor

constant constexpr uint MAX_EXPERTS = 512;
constant constexpr uint MAX_USED = SIMD_WIDTH;

// A softmax over all experts; over the logits of those that are used; a sigmoid of each.
constant constexpr uint ROUTING_SOFTMAX = 0, ROUTING_SOFTMAX_OF_USED = 1, ROUTING_SIGMOID = 2;

// Experts of a lane: lane, lane + 32, …
constant uint OWN_EXPERTS = (EXPERT_COUNT + SIMD_WIDTH - 1) / SIMD_WIDTH;

// The USED experts with the largest scores, the largest first; of equal ones, the first.
//
//     score[e] = p[e] (+ selection_bias[e]),   weight = ROUTING_SCALE · p (/ Σ p of those used)
//     p = softmax(logits), the logits themselves, or sigmoid(logits); of logits, weights are softmax(p of those used)
//
// buffers  0 logits device const T [M, EXPERT_COUNT]   1 weights device float [M, USED]
//          2 experts device uint [M, USED], with SORTED; without it, tables of products with one vector for each pair:
//          3 token_tiles device ExpertTile [M, USED]: vectors are tokens   4 pair_tiles: vectors are pairs
//          5 selection_bias device const float [EXPERT_COUNT], with SELECTION_BIAS
// grid     M threadgroups of 32 threads
template <typename T>
kernel void route(device const T* logits [[buffer(0)]],
                  device float* weights [[buffer(1)]],
                  device uint* experts [[buffer(2), function_constant(SORTED)]],
                  device ExpertTile* token_tiles [[buffer(3), function_constant(UNSORTED)]],
                  device ExpertTile* pair_tiles [[buffer(4), function_constant(UNSORTED)]],
                  device const float* selection_bias [[buffer(5), function_constant(SELECTION_BIAS)]],
                  uint token [[threadgroup_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]]) {
    float values[MAX_EXPERTS / SIMD_WIDTH];
    uint keys[MAX_EXPERTS / SIMD_WIDTH]; // compare as scores; 0 for an expert that is chosen, or not there
    float largest = -1e30f;
    for (uint i = 0; i < OWN_EXPERTS; i++) {
        uint expert = i * SIMD_WIDTH + lane;
        values[i] = float(logits[ulong(token) * EXPERT_COUNT + min(expert, EXPERT_COUNT - 1)]);
        largest = max(largest, values[i]);
    }
    if (ROUTING == ROUTING_SOFTMAX) {
        largest = simd_max(largest);
        float sum = 0.0f;
        for (uint i = 0; i < OWN_EXPERTS; i++) {
            values[i] = exp(values[i] - largest);
            sum += i * SIMD_WIDTH + lane < EXPERT_COUNT ? values[i] : 0.0f;
        }
        sum = simd_sum(sum);
        for (uint i = 0; i < OWN_EXPERTS; i++) {
            values[i] /= sum;
        }
    } else if (ROUTING == ROUTING_SIGMOID) {
        for (uint i = 0; i < OWN_EXPERTS; i++) {
            values[i] = sigmoid(values[i]);
        }
    }
    for (uint i = 0; i < OWN_EXPERTS; i++) {
        uint expert = i * SIMD_WIDTH + lane;
        float score = values[i];
        if (SELECTION_BIAS) {
            score += selection_bias[min(expert, EXPERT_COUNT - 1)];
        }
        // At least 1, so that NaN is chosen if there is nothing else: an expert is always a valid index.
        keys[i] = expert < EXPERT_COUNT ? max(order(score), 1u) : 0;
    }

    // Lane u ends up with the expert u of the token.
    float own_value = 0.0f;
    uint own_expert = 0;
    for (uint u = 0; u < USED; u++) {
        uint key = 0, own = 0;
        for (uint i = 0; i < OWN_EXPERTS; i++) {
            own = keys[i] > key ? i * SIMD_WIDTH + lane : own;
            key = max(key, keys[i]);
        }
        uint chosen = simd_min(key == simd_max(key) ? own : MAX_EXPERTS);
        float value = 0.0f;
        for (uint i = 0; i < OWN_EXPERTS; i++) {
            bool is_chosen = i * SIMD_WIDTH + lane == chosen;
            value = is_chosen ? values[i] : value;
            keys[i] = is_chosen ? 0 : keys[i];
        }
        value = simd_shuffle(value, ushort(chosen % SIMD_WIDTH));
        own_value = lane == u ? value : own_value;
        own_expert = lane == u ? chosen : own_expert;
    }
    if (ROUTING == ROUTING_SOFTMAX_OF_USED) {
        float most = simd_max(lane < USED ? own_value : -1e30f);
        own_value = exp(own_value - most);
    }
    if (NORMALIZED || ROUTING == ROUTING_SOFTMAX_OF_USED) {
        own_value /= simd_sum(lane < USED ? own_value : 0.0f);
    }
    if (lane < USED) {
        uint pair = token * USED + lane;
        weights[pair] = ROUTING_SCALE * own_value;
        if (SORTED) {
            experts[pair] = own_expert;
        } else {
            store_tile(token_tiles, pair, ExpertTile{own_expert, 1, token, pair});
            store_tile(pair_tiles, pair, ExpertTile{own_expert, 1, pair, pair});
        }
    }
}

INSTANTIATE("route_f32", route, float)
INSTANTIATE("route_f16", route, half)

struct GroupParams {
    uint pairs;
    uint tile;  // maximum number of vectors of a tile
    uint tiles; // room in the table: at least the number of pairs / `tile`, and one more for each expert that is used
};

// Sorts pairs by expert; those of an expert keep their order. Tiles that are not used have a count of 0.
//
// buffers  0 experts device const uint [pairs]   1 tiles device ExpertTile [p.tiles]: vectors are sorted pairs
//          2 tokens device uint [pairs]: token of each sorted pair   3 rows device uint [pairs]: place of each pair
//          4 p constant GroupParams
// grid     one threadgroup of 32 · SIMDGROUPS threads
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void group_experts(device const uint* experts [[buffer(0)]],
                          device ExpertTile* tiles [[buffer(1)]],
                          device uint* tokens [[buffer(2)]],
                          device uint* rows [[buffer(3)]],
                          constant GroupParams& p [[buffer(4)]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
    threadgroup uint counts[MAX_EXPERTS];
    for (uint expert = simdgroup; expert < EXPERT_COUNT; expert += SIMDGROUPS) {
        uint count = 0;
        for (uint pair = lane; pair < p.pairs; pair += SIMD_WIDTH) {
            count += experts[pair] == expert ? 1 : 0;
        }
        count = simd_sum(count);
        if (lane == 0) {
            counts[expert] = count;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint expert = simdgroup; expert < EXPERT_COUNT; expert += SIMDGROUPS) {
        uint row = 0, tile = 0, count = counts[expert];
        for (uint other = lane; other < expert; other += SIMD_WIDTH) {
            row += counts[other];
            tile += (counts[other] + p.tile - 1) / p.tile;
        }
        row = simd_sum(row);
        tile = simd_sum(tile);
        for (uint i = lane; i * p.tile < count; i += SIMD_WIDTH) {
            uint first = row + i * p.tile;
            store_tile(tiles, tile + i, ExpertTile{expert, min(p.tile, count - i * p.tile), first, first});
        }
        for (uint first = 0; first < p.pairs; first += SIMD_WIDTH) {
            uint pair = first + lane;
            bool is_own = pair < p.pairs && experts[min(pair, p.pairs - 1)] == expert;
            uint before = simd_prefix_exclusive_sum(is_own ? 1u : 0u);
            if (is_own) {
                tokens[row + before] = pair / USED;
                rows[pair] = row + before;
            }
            row += simd_sum(is_own ? 1u : 0u);
        }
    }
    if (simdgroup == 0) {
        uint used = 0;
        for (uint expert = lane; expert < EXPERT_COUNT; expert += SIMD_WIDTH) {
            used += (counts[expert] + p.tile - 1) / p.tile;
        }
        for (uint tile = simd_sum(used) + lane; tile < p.tiles; tile += SIMD_WIDTH) {
            store_tile(tiles, tile, ExpertTile{0, 0, 0, 0});
        }
    }
}

// y[i] = x[rows[i]], of rows of any type.
//
// buffers  0 x device const uint4 [rows of x, units]   1 rows device const uint [M]   2 y device uint4 [M, units]
//          3 units constant uint: pieces of 16 bytes in a row
// grid     M threadgroups of 32 threads
kernel void gather_rows(device const uint4* x [[buffer(0)]],
                        device const uint* rows [[buffer(1)]],
                        device uint4* y [[buffer(2)]],
                        constant uint& units [[buffer(3)]],
                        uint row [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
    device const uint4* from = x + ulong(rows[row]) * units;
    device uint4* to = y + ulong(row) * units;
    for (uint i = lane; i < units; i += SIMD_WIDTH) {
        to[i] = from[i];
    }
}

// Numbers that a simdgroup computes.
constant constexpr uint SUMMED = 4 * SIMD_WIDTH;

// y[m,n] = Σ_u weights[m,u] · x[row of pair (m,u), n]  (+ (sigmoid(factor[m]) ·) shared[m,n])  (+ residual[m,n])
//
// buffers  0 x device const T [M · USED, N]   1 weights device const float [M, USED]   2 y device T [M, N]
//          3 n constant uint   4 rows device const uint [M, USED], with SORTED; without it, pairs are in their own order
//          5 residual device const T [M, N], with EXPERT_RESIDUAL; may be y
//          6 factor device const T [M], with SHARED_FACTOR   7 shared device const T [M, N], with SHARED_EXPERT
// grid     ceil(N / 128) × M threadgroups of 32 threads
template <typename T>
kernel void sum_experts(device const T* x [[buffer(0)]],
                        device const float* weights [[buffer(1)]],
                        device T* y [[buffer(2)]],
                        constant uint& n [[buffer(3)]],
                        device const uint* rows [[buffer(4), function_constant(SORTED)]],
                        device const T* residual [[buffer(5), function_constant(EXPERT_RESIDUAL)]],
                        device const T* factor [[buffer(6), function_constant(SHARED_FACTOR)]],
                        device const T* shared [[buffer(7), function_constant(SHARED_EXPERT)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
    uint first = group.x * SUMMED + lane;
    for (uint i = first; i < min(first + SUMMED, n); i += SIMD_WIDTH) {
        float sum = 0.0f;
        for (uint u = 0; u < USED; u++) {
            uint pair = group.y * USED + u, row = pair;
            if (SORTED) {
                row = rows[pair];
            }
            sum += weights[pair] * float(x[ulong(row) * n + i]);
        }
        ulong at = ulong(group.y) * n + i;
        if (SHARED_EXPERT) {
            float result = float(shared[at]);
            if (SHARED_FACTOR) {
                result *= sigmoid(float(factor[group.y]));
            }
            sum += result;
        }
        if (EXPERT_RESIDUAL) {
            sum += float(residual[at]);
        }
        y[at] = T(sum);
    }
}

INSTANTIATE("sum_experts_f32", sum_experts, float)
INSTANTIATE("sum_experts_f16", sum_experts, half)
