// delta_net: the mixer of gated delta-net layers, a recurrence over tokens with a matrix S for each value head.
//   causal_conv     y[t,c] = silu(Σ_i w[c,i] · x[t − 3 + i, c]), a convolution of each channel over four tokens.
//                   Heads of queries and keys, the first `normed` of a row, are then divided by √(Σ y² + 10⁻⁶).
//   delta_net       g = e^(decay·softplus(alpha + bias)), β = sigmoid(beta), and with q, k, v of a token
//                     S ← g·S,   δ = β·(v − Sᵀk),   S ← S + k·δᵀ,   y = Sᵀq / √HEAD_DIM
//                   for a block of tokens at a time. With S before the block and Γ_t, the product of its gates up to t,
//                     δ_t = β·(v − Γ_t·Sᵀk_t − Σ_{j<t} Γ_t/Γ_j·(k_j·k_t)·δ_j)
//                     y_t = (Γ_t·Sᵀq_t + Σ_{j≤t} Γ_t/Γ_j·(k_j·q_t)·δ_j) / √HEAD_DIM
//                   so that S is read twice and written once for a block, not for a token.
//   gated_rms_norm  y = x / √(mean(x²) + ε) · w · silu(z), for each head
// buffers  x, y, z, alpha, beta activations, f32 or f16; weights, states and sums are float
//          causal_conv  x, y [tokens, channels]; w [channels, 4]; state [3, channels], the last inputs, oldest first
//          delta_net    qkv [tokens, channels]: KEY_HEADS heads of queries, as many of keys, HEADS of values;
//                       alpha, beta [tokens, HEADS]; decay (negative), bias [HEADS]; y [tokens, HEADS·HEAD_DIM];
//                       state [HEADS, HEAD_DIM/32, HEAD_DIM, 32]: 32 columns of S side by side
//          gated_rms_norm  x, z, y [rows, heads·HEAD_DIM]; w [HEAD_DIM]; packed_y instead of y with PACKED_Y
//          y of gated_rms_norm may be x; no other output overlaps an input
//          first, count: position of the first token, and number of real tokens. If `first` is 0, the state before it is
//          0, whatever the buffer holds. Tokens from `count` on are padding: they leave the states as they are. Their
//          rows of y are 0 in delta_net, and unspecified in causal_conv.
//          sequence: that of the tokens, whose state begins `stride` numbers after that of the sequence before. With
//          ROW_SEQUENCES, each row is a token of its own sequence, at its own position (positions, sequences [rows]).
// grid     causal_conv: (heads, rows) threadgroups of SIMDGROUPS simdgroups, each of which takes a part of the tokens;
//          one row without ROW_SEQUENCES
//          delta_net: (HEAD_DIM/32, HEADS, rows) threadgroups. A column of S needs k, q and its own number of v only, so a lane
//          has one. With one simdgroup, S stays in memory: best on a CPU, whose first-level cache has room for 32
//          columns. With HEAD_DIM/32, each has 32 rows in registers, and they add their sums up: best on a GPU.
//          gated_rms_norm: (heads, rows) threadgroups of 32
// needs    HEAD_DIM a multiple of 32, at most 256; count ≤ tokens
// moves    each number once in and once out, S too
#include "common.metal"
#include "kv_layout.metal"
#include "packed.metal"

constant uint HEAD_DIM [[function_constant(3)]];
constant uint HEADS [[function_constant(6)]];
constant uint KEY_HEADS [[function_constant(80)]];
// Value head h has the keys of head h / (HEADS / KEY_HEADS), otherwise of head h % KEY_HEADS.
constant bool ADJACENT [[function_constant(81)]];

// Tokens that a convolution sees.
constant constexpr uint CONV_WIDTH = 4;
// Numbers of the largest head, and those of them that a lane has.
constant constexpr uint MAX_HEAD = 256;
constant constexpr uint MAX_PER_LANE = MAX_HEAD / SIMD_WIDTH;
// Rows of S that a simdgroup has in registers.
constant constexpr uint STATE_ROWS = 32;
// Tokens of a block, for S in memory and in registers.
constant constexpr uint MEMORY_BLOCK = 4;
constant constexpr uint REGISTER_BLOCK = 8;

struct CausalConvParams {
    uint first;
    uint count;
    uint channels;
    uint normed;
    uint sequence;
    uint stride;
};

// Input of a channel, `before` tokens before the chunk.
inline float conv_state(device const float* state, uint channel, uint before, uint channels, bool is_first) {
    return is_first ? 0.0f : state[(CONV_WIDTH - 1 - before) * channels + channel];
}

template <typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void causal_conv(device const T* x [[buffer(0)]],
                        device const float4* w [[buffer(1)]],
                        device float* state [[buffer(2)]],
                        device T* y [[buffer(3)]],
                        constant CausalConvParams& p [[buffer(4)]],
                        device const uint* positions [[buffer(5), function_constant(ROW_SEQUENCES)]],
                        device const uint* sequences [[buffer(6), function_constant(ROW_SEQUENCES)]],
                        uint2 group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    uint per_lane = HEAD_DIM / SIMD_WIDTH;
    uint head = group.x, channel = head * HEAD_DIM + lane;
    uint count = ROW_SEQUENCES ? 1 : p.count;
    bool is_first = (ROW_SEQUENCES ? positions[group.y] : p.first) == 0;
    uint part = (count + SIMDGROUPS - 1) / SIMDGROUPS;
    uint begin = simdgroup * part, end = min(begin + part, count);
    x += ulong(group.y) * p.channels;
    y += ulong(group.y) * p.channels;
    state += ulong(ROW_SEQUENCES ? sequences[group.y] : p.sequence) * p.stride;

    if (begin < end) {
        // The last three inputs of each channel, oldest first.
        float seen[MAX_PER_LANE][CONV_WIDTH - 1];
        float4 weights[MAX_PER_LANE];
        for (uint i = 0; i < per_lane; i++) {
            uint at = channel + i * SIMD_WIDTH;
            weights[i] = w[at];
            for (uint j = 0; j < CONV_WIDTH - 1; j++) {
                uint before = CONV_WIDTH - 1 - j;
                seen[i][j] = begin >= before ? float(x[ulong(begin - before) * p.channels + at])
                                             : conv_state(state, at, before - begin, p.channels, is_first);
            }
        }
        for (uint token = begin; token < end; token++) {
            float results[MAX_PER_LANE];
            float squares = 0.0f;
            for (uint i = 0; i < per_lane; i++) {
                float value = float(x[ulong(token) * p.channels + channel + i * SIMD_WIDTH]);
                float sum = weights[i].x * seen[i][0] + weights[i].y * seen[i][1] + weights[i].z * seen[i][2] +
                            weights[i].w * value;
                seen[i][0] = seen[i][1];
                seen[i][1] = seen[i][2];
                seen[i][2] = value;
                results[i] = silu(sum);
                squares += results[i] * results[i];
            }
            float factor = head < p.normed ? rsqrt(simd_sum(squares) + 1e-6f) : 1.0f;
            for (uint i = 0; i < per_lane; i++) {
                y[ulong(token) * p.channels + channel + i * SIMD_WIDTH] = T(results[i] * factor);
            }
        }
    }

    if (SIMDGROUPS > 1) {
        // Others may still read the state.
        threadgroup_barrier(mem_flags::mem_device);
    }
    if (simdgroup == 0) {
        for (uint i = 0; i < per_lane; i++) {
            uint at = channel + i * SIMD_WIDTH;
            // In this order, no input is overwritten before it moves.
            for (uint before = CONV_WIDTH - 1; before > 0; before--) {
                state[(CONV_WIDTH - 1 - before) * p.channels + at] =
                    count >= before ? float(x[ulong(count - before) * p.channels + at])
                                    : conv_state(state, at, before - count, p.channels, is_first);
            }
        }
    }
}

struct DeltaNetParams {
    uint first;
    uint count;
    uint tokens;
    uint sequence;
    uint stride;
};

// ln(1 + e^x). Near e^x = 0 the logarithm of a rounded sum would lose all digits; ln(1 + z) = 2·artanh(z / (2 + z)).
inline float softplus(float x) {
    float z = exp(-fabs(x));
    float s = z / (2.0f + z), t = s * s;
    float series = 1.0f / 11.0f + t * (1.0f / 13.0f);
    series = 1.0f / 7.0f + t * (1.0f / 9.0f + t * series);
    series = 1.0f + t * (1.0f / 3.0f + t * (1.0f / 5.0f + t * series));
    return max(x, 0.0f) + 2.0f * s * series;
}

// Gates of a head for 32 tokens, one in each lane.
struct DeltaGates {
    float decay;
    float rate;

    // Those of one token, in all lanes.
    DeltaGates of(uint index) const {
        return DeltaGates{simd_shuffle(decay, ushort(index)), simd_shuffle(rate, ushort(index))};
    }
};

// Inputs of a value head, for all tokens.
template <typename T>
struct DeltaInputs {
    device const T* q;
    device const T* k;
    device const T* v;
    device const T* alpha;
    device const T* beta;
    float decay;
    float bias;
    uint channels;
    // Real tokens.
    uint count;
    // The state before the first token is 0.
    bool is_first;

    DeltaGates gates(uint token) const {
        float a = float(alpha[ulong(token) * HEADS]) + bias;
        return DeltaGates{exp(decay * softplus(a)), sigmoid(float(beta[ulong(token) * HEADS]))};
    }

    device const T* key(uint token) const {
        return k + ulong(token) * channels;
    }

    device const T* query(uint token) const {
        return q + ulong(token) * channels;
    }
};

// Two vectors of a block whose dot product is in the square of its products. At and above the diagonal, row j and column t
// are k_j · q_t; below it, row t and column j are k_j · k_t.
template <typename T>
struct DeltaPair {
    device const T* one;
    device const T* other;
};

template <typename T>
inline DeltaPair<T> pair_of(DeltaInputs<T> in, uint token, uint row, uint column) {
    uint before = min(row, column), after = max(row, column);
    return DeltaPair<T>{in.key(token + before), row <= column ? in.query(token + after) : in.key(token + after)};
}

// Deltas and results of a block from the products of the state before it, k_sums = Sᵀk and q_sums = Sᵀq. A token's delta
// needs those before it, each decayed since. At the end, all are decayed to the last token. Returns the state's decay.
template <uint TOKENS, typename T, typename Products>
inline float solve_block(DeltaInputs<T> in,
                         DeltaGates gates,
                         uint token,
                         Products products,
                         thread const float* k_sums,
                         thread const float* q_sums,
                         thread float* deltas,
                         thread float* results) {
    float decay = 1.0f;
    for (uint t = 0; t < TOKENS; t++) {
        DeltaGates gate = gates.of((token + t) % SIMD_WIDTH);
        decay *= gate.decay;
        float read = decay * k_sums[t], sum = decay * q_sums[t];
        for (uint j = 0; j < t; j++) {
            deltas[j] *= gate.decay;
            read += products[t * TOKENS + j] * deltas[j];
            sum += products[j * TOKENS + t] * deltas[j];
        }
        deltas[t] = gate.rate * (float(in.v[ulong(token + t) * in.channels]) - read);
        sum += products[t * TOKENS + t] * deltas[t];
        results[t] = sum * rsqrt(float(HEAD_DIM));
    }
    return decay;
}

// A block with 32 columns of S in memory, by one simdgroup.
template <uint TOKENS, typename T>
inline void block_in_memory(DeltaInputs<T> in, DeltaGates gates, uint token, device float* s, device T* y, uint lane) {
    float products[TOKENS * TOKENS];
    for (uint pair = 0; pair < TOKENS * TOKENS; pair++) {
        DeltaPair<T> vectors = pair_of(in, token, pair / TOKENS, pair % TOKENS);
        float sum = 0.0f;
        for (uint i = lane; i < HEAD_DIM; i += SIMD_WIDTH) {
            sum += float(vectors.one[i]) * float(vectors.other[i]);
        }
        products[pair] = simd_sum(sum);
    }
    device const T* k = in.key(token);
    device const T* q = in.query(token);
    // Sums that do not wait for each other: one token alone has two of each.
    constexpr uint PARTS = TOKENS == 1 ? 2 : 1;
    float k_sums[TOKENS * PARTS], q_sums[TOKENS * PARTS];
    for (uint i = 0; i < TOKENS * PARTS; i++) {
        k_sums[i] = 0.0f;
        q_sums[i] = 0.0f;
    }
    for (uint i = 0; i < HEAD_DIM; i += PARTS) {
        for (uint part = 0; part < PARTS; part++) {
            float value = s[(i + part) * SIMD_WIDTH];
            for (uint t = 0; t < TOKENS; t++) {
                k_sums[part + t] += value * float(k[t * in.channels + i + part]);
                q_sums[part + t] += value * float(q[t * in.channels + i + part]);
            }
        }
    }
    if (PARTS == 2) {
        k_sums[0] += k_sums[PARTS - 1];
        q_sums[0] += q_sums[PARTS - 1];
    }
    float deltas[TOKENS], results[TOKENS];
    float decay = solve_block<TOKENS>(in, gates, token, products, k_sums, q_sums, deltas, results);
    for (uint t = 0; t < TOKENS; t++) {
        y[ulong(token + t) * HEADS * HEAD_DIM] = T(results[t]);
    }
    for (uint i = 0; i < HEAD_DIM; i++) {
        float value = s[i * SIMD_WIDTH] * decay;
        for (uint t = 0; t < TOKENS; t++) {
            value += float(k[t * in.channels + i]) * deltas[t];
        }
        s[i * SIMD_WIDTH] = value;
    }
}

template <typename T>
inline void scan_in_memory(DeltaInputs<T> in, device float* s, device T* y, uint lane) {
    if (in.is_first) {
        for (uint i = 0; i < HEAD_DIM; i++) {
            s[i * SIMD_WIDTH] = 0.0f;
        }
    }
    for (uint begin = 0; begin < in.count; begin += SIMD_WIDTH) {
        DeltaGates gates = in.gates(min(begin + lane, in.count - 1));
        uint token = begin, end = min(begin + SIMD_WIDTH, in.count);
        for (; token + MEMORY_BLOCK <= end; token += MEMORY_BLOCK) {
            block_in_memory<MEMORY_BLOCK>(in, gates, token, s, y, lane);
        }
        for (; token < end; token++) {
            block_in_memory<1>(in, gates, token, s, y, lane);
        }
    }
}

// Sums of a block that simdgroups share, each from 32 rows, and their totals.
struct DeltaSums {
    float columns[2 * REGISTER_BLOCK][MAX_HEAD / STATE_ROWS][SIMD_WIDTH];
    float products[REGISTER_BLOCK * REGISTER_BLOCK][MAX_HEAD / STATE_ROWS];
    float all_columns[2 * REGISTER_BLOCK][SIMD_WIDTH];
    float all_products[REGISTER_BLOCK * REGISTER_BLOCK];
};

// A block with 32 columns of S in registers, 32 rows in each simdgroup.
template <uint TOKENS, typename T>
inline void block_in_registers(DeltaInputs<T> in,
                               DeltaGates gates,
                               uint token,
                               thread float* rows,
                               device T* y,
                               threadgroup DeltaSums& sums,
                               uint lane,
                               uint simdgroup) {
    uint row = simdgroup * STATE_ROWS;
    for (uint pair = lane; pair < TOKENS * TOKENS; pair += SIMD_WIDTH) {
        DeltaPair<T> vectors = pair_of(in, token, pair / TOKENS, pair % TOKENS);
        device const vec<T, 4>* one = (device const vec<T, 4>*)(vectors.one + row);
        device const vec<T, 4>* other = (device const vec<T, 4>*)(vectors.other + row);
        float sum = 0.0f;
        for (uint i = 0; i < STATE_ROWS / 4; i++) {
            sum += dot(float4(one[i]), float4(other[i]));
        }
        sums.products[pair][simdgroup] = sum;
    }
    float k_sums[TOKENS], q_sums[TOKENS];
    for (uint t = 0; t < TOKENS; t++) {
        device const vec<T, 4>* k = (device const vec<T, 4>*)(in.key(token + t) + row);
        device const vec<T, 4>* q = (device const vec<T, 4>*)(in.query(token + t) + row);
        k_sums[t] = 0.0f;
        q_sums[t] = 0.0f;
        for (uint i = 0; i < STATE_ROWS; i += 4) {
            float4 state = float4(rows[i], rows[i + 1], rows[i + 2], rows[i + 3]);
            k_sums[t] += dot(state, float4(k[i / 4]));
            q_sums[t] += dot(state, float4(q[i / 4]));
        }
        sums.columns[t][simdgroup][lane] = k_sums[t];
        sums.columns[TOKENS + t][simdgroup][lane] = q_sums[t];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = simdgroup; i < 2 * TOKENS; i += SIMDGROUPS) {
        float sum = 0.0f;
        for (uint part = 0; part < SIMDGROUPS; part++) {
            sum += sums.columns[i][part][lane];
        }
        sums.all_columns[i][lane] = sum;
    }
    for (uint pair = row + lane; pair < TOKENS * TOKENS; pair += HEAD_DIM) {
        float sum = 0.0f;
        for (uint part = 0; part < SIMDGROUPS; part++) {
            sum += sums.products[pair][part];
        }
        sums.all_products[pair] = sum;
    }
    // After it, the sums of the next block may be written over these, but not their totals before its own barrier.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = 0; t < TOKENS; t++) {
        k_sums[t] = sums.all_columns[t][lane];
        q_sums[t] = sums.all_columns[TOKENS + t][lane];
    }
    float deltas[TOKENS], results[TOKENS];
    threadgroup const float* products = sums.all_products;
    float decay = solve_block<TOKENS>(in, gates, token, products, k_sums, q_sums, deltas, results);
    for (uint i = 0; i < STATE_ROWS; i++) {
        rows[i] *= decay;
    }
    for (uint t = 0; t < TOKENS; t++) {
        if (simdgroup == t % SIMDGROUPS) {
            y[ulong(token + t) * HEADS * HEAD_DIM] = T(results[t]);
        }
        device const vec<T, 4>* k = (device const vec<T, 4>*)(in.key(token + t) + row);
        for (uint i = 0; i < STATE_ROWS; i += 4) {
            float4 keys = float4(k[i / 4]);
            rows[i] += keys.x * deltas[t];
            rows[i + 1] += keys.y * deltas[t];
            rows[i + 2] += keys.z * deltas[t];
            rows[i + 3] += keys.w * deltas[t];
        }
    }
}

template <typename T>
inline void scan_in_registers(DeltaInputs<T> in,
                              device float* s,
                              device T* y,
                              threadgroup DeltaSums& sums,
                              uint lane,
                              uint simdgroup) {
    uint row = simdgroup * STATE_ROWS;
    float rows[STATE_ROWS];
    for (uint i = 0; i < STATE_ROWS; i++) {
        rows[i] = in.is_first ? 0.0f : s[(row + i) * SIMD_WIDTH];
    }
    for (uint begin = 0; begin < in.count; begin += SIMD_WIDTH) {
        DeltaGates gates = in.gates(min(begin + lane, in.count - 1));
        uint token = begin, end = min(begin + SIMD_WIDTH, in.count);
        for (; token + REGISTER_BLOCK <= end; token += REGISTER_BLOCK) {
            block_in_registers<REGISTER_BLOCK>(in, gates, token, rows, y, sums, lane, simdgroup);
        }
        for (; token < end; token++) {
            block_in_registers<1>(in, gates, token, rows, y, sums, lane, simdgroup);
        }
    }
    for (uint i = 0; i < STATE_ROWS; i++) {
        s[(row + i) * SIMD_WIDTH] = rows[i];
    }
}

template <typename T>
[[max_total_threads_per_threadgroup(MAX_HEAD)]]
kernel void delta_net(device const T* qkv [[buffer(0)]],
                      device const T* alpha [[buffer(1)]],
                      device const T* beta [[buffer(2)]],
                      device const float* decay [[buffer(3)]],
                      device const float* bias [[buffer(4)]],
                      device float* state [[buffer(5)]],
                      device T* y [[buffer(6)]],
                      constant DeltaNetParams& p [[buffer(7)]],
                      device const uint* positions [[buffer(8), function_constant(ROW_SEQUENCES)]],
                      device const uint* sequences [[buffer(9), function_constant(ROW_SEQUENCES)]],
                      uint3 at [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup float sum_memory[sizeof(DeltaSums) / sizeof(float)];
    threadgroup DeltaSums& sums = *(threadgroup DeltaSums*)sum_memory;
    uint head = at.y, column = at.x * SIMD_WIDTH + lane;
    uint key_head = ADJACENT ? head / (HEADS / KEY_HEADS) : head % KEY_HEADS;
    DeltaInputs<T> in;
    in.channels = (2 * KEY_HEADS + HEADS) * HEAD_DIM;
    in.count = ROW_SEQUENCES ? 1 : p.count;
    in.is_first = (ROW_SEQUENCES ? positions[at.z] : p.first) == 0;
    qkv += ulong(at.z) * in.channels;
    in.q = qkv + key_head * HEAD_DIM;
    in.k = in.q + KEY_HEADS * HEAD_DIM;
    in.v = qkv + (2 * KEY_HEADS + head) * HEAD_DIM + column;
    in.alpha = alpha + ulong(at.z) * HEADS + head;
    in.beta = beta + ulong(at.z) * HEADS + head;
    in.decay = decay[head];
    in.bias = bias[head];
    state += ulong(ROW_SEQUENCES ? sequences[at.z] : p.sequence) * p.stride;
    device float* s = state + (ulong(head) * HEAD_DIM + at.x * SIMD_WIDTH) * HEAD_DIM + lane;
    y += (ulong(at.z) * HEADS + head) * HEAD_DIM + column;
    if (SIMDGROUPS == 1) {
        scan_in_memory(in, s, y, lane);
    } else {
        scan_in_registers(in, s, y, sums, lane, simdgroup);
    }
    if (simdgroup == 0 && !ROW_SEQUENCES) {
        for (uint token = p.count; token < p.tokens; token++) {
            y[ulong(token) * HEADS * HEAD_DIM] = T(0.0f);
        }
    }
}

template <typename T>
kernel void gated_rms_norm(device const T* x [[buffer(0)]],
                           device const T* z [[buffer(1)]],
                           device const float* w [[buffer(2)]],
                           device T* y [[buffer(3), function_constant(NUMBERS_Y)]],
                           constant float& epsilon [[buffer(4)]],
                           device PackedBlock* packed_y [[buffer(5), function_constant(PACKED_Y)]],
                           uint2 at [[threadgroup_position_in_grid]],
                           uint2 grid [[threadgroups_per_grid]],
                           uint lane [[thread_index_in_simdgroup]]) {
    ulong begin = (ulong(at.y) * grid.x + at.x) * HEAD_DIM;
    float squares = 0.0f;
    for (uint i = lane; i < HEAD_DIM; i += SIMD_WIDTH) {
        float value = float(x[begin + i]);
        squares += value * value;
    }
    float factor = rsqrt(simd_sum(squares) / float(HEAD_DIM) + epsilon);
    for (uint i = lane; i < HEAD_DIM; i += SIMD_WIDTH) {
        float gated = float(x[begin + i]) * factor * w[i] * silu(float(z[begin + i]));
        if (PACKED_Y) {
            pack(gated, packed_y + (begin + i - lane) / PACKED_NUMBERS, lane);
        } else {
            y[begin + i] = T(gated);
        }
    }
}

INSTANTIATE("causal_conv_f32", causal_conv, float)
INSTANTIATE("causal_conv_f16", causal_conv, half)
INSTANTIATE("delta_net_f32", delta_net, float)
INSTANTIATE("delta_net_f16", delta_net, half)
INSTANTIATE("gated_rms_norm_f32", gated_rms_norm, float)
INSTANTIATE("gated_rms_norm_f16", gated_rms_norm, half)
