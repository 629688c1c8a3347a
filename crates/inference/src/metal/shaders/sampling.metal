// sampling: from logits to the next token. A row is one sequence; logits are float.
//   penalize  l = l > 0 ? l / repeat : l · repeat, then l − presence − times · frequency, for each distinct recent
//             token, which occurs `times` times among the recent ones
//   argmax    the largest logit; among equal logits, the lowest index
//   top_k     the TOP_K largest logits and their tokens, by ascending index; among equal logits, the lowest indices
//   sample    draws a token with probability ∝ e^(l / temperature) from those that are kept:
//               top_p: the most probable ones that together have at least top_p of e^l; ties are kept together
//               min_p: those with e^(l − largest) ≥ min_p
// buffers  logits device float [rows, n]; recent device const uint [rows, count]; the rest is documented at the kernels
// grid     one threadgroup of 32·SIMDGROUPS threads per row: state between passes stays in the threadgroup
//
// sample uses the Gumbel-max trick: it takes the largest l / temperature − log(E), E exponentially distributed, so one
// pass replaces a sorted list. E comes from a hash of seed, step, row and token: the same seed gives the same text, in
// any order of threads. top_k and top_p search for a threshold (selection.metal) instead of sorting. NaN is chosen only
// if there is nothing else (then the token is 0).
#include "common.metal"
#include "selection.metal"

constant uint TOP_K [[function_constant(13)]];   // top_k: number of logits to keep
constant bool INDEXED [[function_constant(14)]]; // sample: the logits come from top_k, with their tokens

struct PenaltyParams {
    uint n;
    uint count;
    float repeat;
    float presence;
    float frequency;
};

struct SampleParams {
    uint n;
    float temperature;
    float top_p;
    float min_p;
    uint seed_low;
    uint seed_high;
    uint step;
};

// buffers  0 logits [rows, n], updated in place   1 recent [rows, count]   2 p
// grid     (ceil(count / 32), rows) threadgroups of 32
kernel void penalize(device float* logits [[buffer(0)]],
                     device const uint* recent [[buffer(1)]],
                     constant PenaltyParams& p [[buffer(2)]],
                     uint2 at [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    recent += ulong(at.y) * p.count;
    logits += ulong(at.y) * p.n;
    uint own = at.x * SIMD_WIDTH + lane;
    uint token = own < p.count ? recent[own] : 0xffffffffu;
    // If the token occurs earlier in the list, the earlier thread handles it.
    uint times = 0;
    bool first = true;
    for (uint i = 0; i < p.count; i++) {
        if (recent[i] == token) {
            times++;
            first = first && i >= own;
        }
    }
    if (first && token < p.n) {
        float logit = logits[token];
        logit = logit > 0.0f ? logit / p.repeat : logit * p.repeat;
        logits[token] = logit - p.presence - float(times) * p.frequency;
    }
}

// buffers  0 logits [rows, n]   1 tokens device uint [rows]   2 n
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void argmax(device const float* logits [[buffer(0)]],
                   device uint* tokens [[buffer(1)]],
                   constant uint& n [[buffer(2)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint thread_index [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint scratch[2 * MAX_SIMDGROUPS];
    logits += ulong(row) * n;
    Candidate best{0, 0};
    for (uint i = thread_index; i < n; i += SIMD_WIDTH * SIMDGROUPS) {
        uint bits = order(logits[i]);
        // Indices ascend: a later equal number is not better.
        best.index = bits > best.order ? i : best.index;
        best.order = max(bits, best.order);
    }
    best = threadgroup_best(best, scratch, ThreadPosition{lane, simdgroup, SIMDGROUPS});
    if (thread_index == 0) {
        tokens[row] = best.index;
    }
}

// Writes the TOP_K largest numbers of the threadgroup's parts. The threshold is between `low`, which at least TOP_K
// numbers reach, and `high`, which fewer reach.
template <typename Source>
inline void write_largest(Source source, uint low, uint high, device float* values, device uint* tokens,
                          threadgroup uint* scratch, ThreadPosition position) {
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        uint count = 0;
        for (uint i = position.lane; i < source.size; i += SIMD_WIDTH) {
            count += source.bits(i) >= middle ? 1 : 0;
        }
        count = threadgroup_total(count, scratch, position);
        low = count >= TOP_K ? middle : low;
        high = count >= TOP_K ? high : middle;
        if (count == TOP_K) {
            break;
        }
    }

    // Keeps all numbers above the threshold, and the first of those equal to it.
    uint above = 0;
    uint equal = 0;
    for (uint i = position.lane; i < source.size; i += SIMD_WIDTH) {
        uint bits = source.bits(i);
        above += bits > low ? 1 : 0;
        equal += bits == low ? 1 : 0;
    }
    above = simd_sum(above);
    equal = simd_sum(equal);
    if (position.lane == 0) {
        scratch[position.simdgroup] = above;
        scratch[MAX_SIMDGROUPS + position.simdgroup] = equal;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint before = 0;       // in the parts of earlier simdgroups: numbers above the threshold,
    uint equal_before = 0; // and numbers equal to it
    uint total_above = 0;
    for (uint i = 0; i < SIMDGROUPS; i++) {
        before += i < position.simdgroup ? scratch[i] : 0;
        equal_before += i < position.simdgroup ? scratch[MAX_SIMDGROUPS + i] : 0;
        total_above += scratch[i];
    }
    uint room = TOP_K - total_above; // for numbers equal to the threshold
    for (uint first = 0; first < source.size; first += SIMD_WIDTH) {
        uint i = first + position.lane;
        bool there = i < source.size;
        uint bits = there ? source.bits(i) : 0;
        bool is_above = there && bits > low;
        bool is_equal = there && bits == low;
        uint equals = equal_before + simd_prefix_exclusive_sum(is_equal ? 1u : 0u);
        bool keep = is_above || (is_equal && equals < room);
        uint place_kept = before + min(equal_before, room) + simd_prefix_exclusive_sum(keep ? 1u : 0u);
        if (keep) {
            values[place_kept] = unorder(bits);
            tokens[place_kept] = source.index(i);
        }
        before += simd_sum(is_above ? 1u : 0u);
        equal_before += simd_sum(is_equal ? 1u : 0u);
    }
}

// buffers  0 logits [rows, n]   1 values device float [rows, TOP_K]   2 tokens device uint [rows, TOP_K]
//          3 n, at least TOP_K
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void top_k(device const float* logits [[buffer(0)]],
                  device float* values [[buffer(1)]],
                  device uint* tokens [[buffer(2)]],
                  constant uint& n [[buffer(3)]],
                  uint row [[threadgroup_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint scratch[2 * MAX_SIMDGROUPS];
    threadgroup uint candidate_bits[CANDIDATES];
    threadgroup uint candidate_indices[CANDIDATES];
    ThreadPosition position{lane, simdgroup, SIMDGROUPS};
    values += ulong(row) * TOP_K;
    tokens += ulong(row) * TOP_K;

    RowPart part = row_part(logits + ulong(row) * n, n, position);
    uint largest;
    uint low = likely_bound(part, TOP_K, scratch, position, largest);
    uint room = CANDIDATES / SIMDGROUPS;
    Candidates candidates{candidate_bits + simdgroup * room, candidate_indices + simdgroup * room, 0};
    candidates.size = collect(part, low, candidates.all_bits, candidates.indices, room, lane);
    bool too_many = threadgroup_total(candidates.size > room ? 1 : 0, scratch, position) > 0;
    if (too_many) {
        write_largest(part, low, largest + 1, values, tokens, scratch, position);
    } else {
        write_largest(candidates, low, largest + 1, values, tokens, scratch, position);
    }
}

// Hashes 32 bits to 32 pseudo-random bits.
inline uint scramble(uint x) {
    x = (x ^ (x >> 16)) * 0x21f0aaadu;
    x = (x ^ (x >> 15)) * 0x735a2d97u;
    return x ^ (x >> 15);
}

// −log(E) for E exponentially distributed: the Gumbel distribution. The smallest E wins, so E is computed from the low
// end of a uniform number, where float is most precise.
inline float gumbel(uint bits) {
    float uniform = min((float(bits) + 0.5f) * 2.3283064e-10f, 0.99999994f);
    float series = uniform * (1.0f + uniform * (0.5f + uniform * 0.33333334f));
    float exponential = uniform < 0.01f ? series : -log(1.0f - uniform);
    return -log(exponential);
}

// Σ e^(value − largest) over the threadgroup's numbers that reach `low`.
template <typename Source>
inline float weight(Source source, uint low, float largest, threadgroup float* sums, ThreadPosition position) {
    float sum = 0.0f;
    for (uint i = position.lane; i < source.size; i += SIMD_WIDTH) {
        uint bits = source.bits(i);
        sum += bits >= low ? exp(unorder(bits) - largest) : 0.0f;
    }
    return threadgroup_sum(sum, sums, position);
}

// Parts into which a pass divides an interval. The exponential dominates the cost of a pass over the numbers, and one
// is enough for the weights of all thresholds. With 2 parts there are 31 passes, with 8 there are 11.
constant constexpr uint PARTS = 8;

// Sums of PARTS - 1 numbers over the threadgroup, in every thread, each in the order of threadgroup_sum. `scratch` has
// room for PARTS · MAX_SIMDGROUPS numbers.
inline void threadgroup_sums(thread float* values, threadgroup float* scratch, ThreadPosition position) {
    for (uint t = 0; t < PARTS - 1; t++) {
        values[t] = simd_sum(values[t]);
    }
    if (position.simdgroups == 1) {
        return;
    }
    if (position.lane == 0) {
        for (uint t = 0; t < PARTS - 1; t++) {
            scratch[t * MAX_SIMDGROUPS + position.simdgroup] = values[t];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = 0; t < PARTS - 1; t++) {
        values[t] = simd_sum(position.lane < position.simdgroups ? scratch[t * MAX_SIMDGROUPS + position.lane] : 0.0f);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// Returns the largest threshold, as bits, whose numbers have at least the weight `wanted`: between `low`, which has it,
// and `high`, which does not. Weights decrease from one threshold to the next even when rounded: all are sums of the
// same numbers in the same order, with some of them replaced by 0.
template <typename Source>
inline uint heavy_bound(Source source, uint low, uint high, float wanted, float largest, threadgroup float* sums,
                        ThreadPosition position) {
    while (high - low > 1) {
        uint step = max((high - low) / PARTS, 1u);
        float weights[PARTS - 1];
        for (uint t = 0; t < PARTS - 1; t++) {
            weights[t] = 0.0f;
        }
        for (uint i = position.lane; i < source.size; i += SIMD_WIDTH) {
            uint bits = source.bits(i);
            float own = exp(unorder(bits) - largest);
            for (uint t = 0; t < PARTS - 1; t++) {
                weights[t] += bits >= low + (t + 1) * step ? own : 0.0f;
            }
        }
        threadgroup_sums(weights, sums, position);
        uint enough = 0;
        for (uint t = 0; t < PARTS - 1; t++) {
            // A short interval has fewer thresholds. If `wanted` is 0, even the end of the interval would reach it.
            enough += low + (t + 1) * step < high && weights[t] >= wanted ? 1 : 0;
        }
        low += enough * step;
        high = enough < PARTS - 1 ? low + step : high;
    }
    return low;
}

// Number of candidates that usually reach the probability top_p.
constant constexpr uint LIKELY = 128;

// buffers  0 values device const float [rows, n]   1 candidates device const uint [rows, n], with INDEXED: their tokens
//          2 tokens device uint [rows]             3 p
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void sample(device const float* values [[buffer(0)]],
                   device const uint* candidates [[buffer(1), function_constant(INDEXED)]],
                   device uint* tokens [[buffer(2)]],
                   constant SampleParams& p [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint scratch[2 * MAX_SIMDGROUPS];
    threadgroup float sums[PARTS * MAX_SIMDGROUPS];
    threadgroup uint candidate_bits[CANDIDATES];
    threadgroup uint candidate_indices[CANDIDATES];
    ThreadPosition position{lane, simdgroup, SIMDGROUPS};

    RowPart part = row_part(values + ulong(row) * p.n, p.n, position);
    uint largest_bits;
    uint likely = max(likely_bound(part, LIKELY, scratch, position, largest_bits), 1u);
    float largest = unorder(largest_bits);
    uint low = 1; // everything except NaN
    if (p.top_p < 1.0f) {
        float wanted = weight(part, 1, largest, sums, position) * p.top_p;
        uint room = CANDIDATES / SIMDGROUPS;
        Candidates few{candidate_bits + simdgroup * room, candidate_indices + simdgroup * room, 0};
        uint count = collect(part, likely, few.all_bits, few.indices, room, lane);
        few.size = min(count, room);
        bool too_many = threadgroup_total(count > room ? 1 : 0, scratch, position) > 0;
        bool too_light = weight(few, likely, largest, sums, position) < wanted;
        if (too_many || too_light) {
            low = heavy_bound(part, low, largest_bits + 1, wanted, largest, sums, position);
        } else {
            low = heavy_bound(few, likely, largest_bits + 1, wanted, largest, sums, position);
        }
    }

    uint key = scramble(p.seed_low ^ scramble(p.seed_high ^ scramble(p.step ^ scramble(row + 0x9e3779b9u))));
    float factor = 1.0f / p.temperature;
    Candidate chosen{0, 0};
    for (uint i = lane; i < part.size; i += SIMD_WIDTH) {
        uint bits = part.bits(i);
        float difference = unorder(bits) - largest;
        if (bits >= low && (p.min_p <= 0.0f || exp(difference) >= p.min_p)) {
            uint index = part.index(i);
            uint token = index;
            if (INDEXED) {
                token = candidates[ulong(row) * p.n + index];
            }
            float score = difference * factor + gumbel(scramble(token ^ key));
            chosen = better(chosen, Candidate{order(score), index});
        }
    }
    chosen = threadgroup_best(chosen, scratch, position);
    if (lane == 0 && simdgroup == 0) {
        uint token = chosen.index;
        if (INDEXED) {
            token = candidates[ulong(row) * p.n + chosen.index];
        }
        tokens[row] = token;
    }
}
