// sampling: from the logits of the last layer to the next token. A row is one sequence; logits are float.
//   penalize  l = l > 0 ? l / repeat : l · repeat, then l − presence − times · frequency, for each token among the recent
//             ones, once, however many `times` it is there
//   argmax    the largest logit; of equal ones the lowest index
//   top_k     the TOP_K largest logits and their tokens, by ascending index; of equal ones the lowest indices
//   sample    one of the numbers, with probability ∝ e^(l / temperature) among those that are kept:
//               top_p: the most probable ones that together have at least top_p of e^l; equal ones are kept together
//               min_p: those with e^(l − largest) ≥ min_p
// buffers  logits device float [rows, n]; recent device const uint [rows, count]; the rest is said at the kernels
// grid     one threadgroup of 32·SIMDGROUPS threads for a row: what it takes from one pass to the next stays in it
//
// sample draws by Gumbel's trick: it takes the largest l / temperature − log(E), E exponentially distributed, so one pass
// does without a sorted list. E comes from a hash of seed, step, row and token: the same seed gives the same text,
// whatever the threads do. top_k and top_p look for a threshold (selection.metal) instead of sorting.
// NaN is never chosen, except where there is nothing else (then the token is 0).
#include "common.metal"
#include "selection.metal"

constant uint TOP_K [[function_constant(13)]];   // top_k: how many
constant bool INDEXED [[function_constant(14)]]; // sample: the numbers come from top_k, with their tokens

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

// buffers  0 logits [rows, n], changed   1 recent [rows, count]   2 p
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
    // A thread that finds the token before its own leaves it to that one.
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
        // Indices rise: an equal number that comes later is not better.
        best.index = bits > best.order ? i : best.index;
        best.order = max(bits, best.order);
    }
    best = threadgroup_best(best, scratch, ThreadPosition{lane, simdgroup, SIMDGROUPS});
    if (thread_index == 0) {
        tokens[row] = best.index;
    }
}

// Writes the TOP_K largest numbers of the threadgroup's parts, which are between `low`, which at least TOP_K reach, and `high`, which
// fewer do.
template <typename Source>
inline void write_largest(Source source, uint low, uint high, device float* values, device uint* tokens,
                          threadgroup uint* scratch, ThreadPosition place) {
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        uint count = 0;
        for (uint i = place.lane; i < source.size; i += SIMD_WIDTH) {
            count += source.bits(i) >= middle ? 1 : 0;
        }
        count = threadgroup_total(count, scratch, place);
        low = count >= TOP_K ? middle : low;
        high = count >= TOP_K ? high : middle;
        if (count == TOP_K) {
            break;
        }
    }

    // All above the threshold are kept, and of those at it the first.
    uint above = 0;
    uint equal = 0;
    for (uint i = place.lane; i < source.size; i += SIMD_WIDTH) {
        uint bits = source.bits(i);
        above += bits > low ? 1 : 0;
        equal += bits == low ? 1 : 0;
    }
    above = simd_sum(above);
    equal = simd_sum(equal);
    if (place.lane == 0) {
        scratch[place.simdgroup] = above;
        scratch[MAX_SIMDGROUPS + place.simdgroup] = equal;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint before = 0;       // in the parts of simdgroups before this one: numbers above the threshold,
    uint equal_before = 0; // and at it
    uint total_above = 0;
    for (uint i = 0; i < SIMDGROUPS; i++) {
        before += i < place.simdgroup ? scratch[i] : 0;
        equal_before += i < place.simdgroup ? scratch[MAX_SIMDGROUPS + i] : 0;
        total_above += scratch[i];
    }
    uint room = TOP_K - total_above; // for those at the threshold
    for (uint first = 0; first < source.size; first += SIMD_WIDTH) {
        uint i = first + place.lane;
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

// buffers  0 logits [rows, n]   1 values device float [rows, TOP_K]   2 tokens device uint [rows, TOP_K]   3 n, at least TOP_K
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
    ThreadPosition place{lane, simdgroup, SIMDGROUPS};
    values += ulong(row) * TOP_K;
    tokens += ulong(row) * TOP_K;

    RowPart part = row_part(logits + ulong(row) * n, n, place);
    uint largest;
    uint low = likely_bound(part, TOP_K, scratch, place, largest);
    uint room = CANDIDATES / SIMDGROUPS;
    Candidates candidates{candidate_bits + simdgroup * room, candidate_indices + simdgroup * room, 0};
    candidates.size = collect(part, low, candidates.all_bits, candidates.indices, room, lane);
    bool too_many = threadgroup_total(candidates.size > room ? 1 : 0, scratch, place) > 0;
    if (too_many) {
        write_largest(part, low, largest + 1, values, tokens, scratch, place);
    } else {
        write_largest(candidates, low, largest + 1, values, tokens, scratch, place);
    }
}

// 32 bits that look random, from 32 bits.
inline uint scramble(uint x) {
    x = (x ^ (x >> 16)) * 0x21f0aaadu;
    x = (x ^ (x >> 15)) * 0x735a2d97u;
    return x ^ (x >> 15);
}

// −log(E) for E exponentially distributed: Gumbel's distribution. A small E decides who wins, so it is made from the low
// end of a uniform number, where float has all its digits.
inline float gumbel(uint bits) {
    float uniform = min((float(bits) + 0.5f) * 2.3283064e-10f, 0.99999994f);
    float series = uniform * (1.0f + uniform * (0.5f + uniform * 0.33333334f));
    float exponential = uniform < 0.01f ? series : -log(1.0f - uniform);
    return -log(exponential);
}

// Σ e^(value − largest) over what reaches `low`, of the threadgroup.
template <typename Source>
inline float weight(Source source, uint low, float largest, threadgroup float* sums, ThreadPosition place) {
    float sum = 0.0f;
    for (uint i = place.lane; i < source.size; i += SIMD_WIDTH) {
        uint bits = source.bits(i);
        sum += bits >= low ? exp(unorder(bits) - largest) : 0.0f;
    }
    return threadgroup_sum(sum, sums, place);
}

// Parts that an interval is divided into at a time: the exponential is what a pass over the numbers costs, and one is enough
// for the weights of all thresholds between them. With 2 parts there are 31 passes, with 8 there are 11.
constant constexpr uint PARTS = 8;

// The sums of PARTS - 1 numbers over the threadgroup, in every thread, each in the order of threadgroup_sum. `scratch` has room
// for PARTS · MAX_SIMDGROUPS numbers.
inline void threadgroup_sums(thread float* values, threadgroup float* scratch, ThreadPosition place) {
    for (uint t = 0; t < PARTS - 1; t++) {
        values[t] = simd_sum(values[t]);
    }
    if (place.simdgroups == 1) {
        return;
    }
    if (place.lane == 0) {
        for (uint t = 0; t < PARTS - 1; t++) {
            scratch[t * MAX_SIMDGROUPS + place.simdgroup] = values[t];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint t = 0; t < PARTS - 1; t++) {
        values[t] = simd_sum(place.lane < place.simdgroups ? scratch[t * MAX_SIMDGROUPS + place.lane] : 0.0f);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// The largest bits whose numbers have the weight `wanted`: between `low`, whose have, and `high`, whose have not. Weights fall
// from one threshold to the next, also as they are rounded: all are sums of the same numbers in the same order, of which
// some are 0.
template <typename Source>
inline uint heavy_bound(Source source, uint low, uint high, float wanted, float largest, threadgroup float* sums,
                        ThreadPosition place) {
    while (high - low > 1) {
        uint step = max((high - low) / PARTS, 1u);
        float weights[PARTS - 1];
        for (uint t = 0; t < PARTS - 1; t++) {
            weights[t] = 0.0f;
        }
        for (uint i = place.lane; i < source.size; i += SIMD_WIDTH) {
            uint bits = source.bits(i);
            float own = exp(unorder(bits) - largest);
            for (uint t = 0; t < PARTS - 1; t++) {
                weights[t] += bits >= low + (t + 1) * step ? own : 0.0f;
            }
        }
        threadgroup_sums(weights, sums, place);
        uint enough = 0;
        for (uint t = 0; t < PARTS - 1; t++) {
            // A short interval has fewer thresholds. Where nothing is wanted, even its end would have that.
            enough += low + (t + 1) * step < high && weights[t] >= wanted ? 1 : 0;
        }
        low += enough * step;
        high = enough < PARTS - 1 ? low + step : high;
    }
    return low;
}

// Numbers that mostly have the probability that top_p asks for.
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
    ThreadPosition place{lane, simdgroup, SIMDGROUPS};

    RowPart part = row_part(values + ulong(row) * p.n, p.n, place);
    uint largest_bits;
    uint likely = max(likely_bound(part, LIKELY, scratch, place, largest_bits), 1u);
    float largest = unorder(largest_bits);
    uint low = 1; // all but NaN
    if (p.top_p < 1.0f) {
        float wanted = weight(part, 1, largest, sums, place) * p.top_p;
        uint room = CANDIDATES / SIMDGROUPS;
        Candidates few{candidate_bits + simdgroup * room, candidate_indices + simdgroup * room, 0};
        uint count = collect(part, likely, few.all_bits, few.indices, room, lane);
        few.size = min(count, room);
        bool too_many = threadgroup_total(count > room ? 1 : 0, scratch, place) > 0;
        bool too_light = weight(few, likely, largest, sums, place) < wanted;
        if (too_many || too_light) {
            low = heavy_bound(part, low, largest_bits + 1, wanted, largest, sums, place);
        } else {
            low = heavy_bound(few, likely, largest_bits + 1, wanted, largest, sums, place);
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
    chosen = threadgroup_best(chosen, scratch, place);
    if (lane == 0 && simdgroup == 0) {
        uint token = chosen.index;
        if (INDEXED) {
            token = candidates[ulong(row) * p.n + chosen.index];
        }
        tokens[row] = token;
    }
}
