// sampling: from the logits of the last layer to the next token. A row is one sequence; logits are float.
//   penalize  l = l > 0 ? l / repeat : l · repeat, then l − presence − times · frequency, for each token among the recent
//             ones, once, however many `times` it is there
//   argmax    the largest logit; of equal ones the lowest index
//   top_k     the K largest logits and their tokens, by ascending index; of equal ones the lowest indices
//   sample    one of the numbers, with probability ∝ e^(l / temperature) among those that are kept:
//               top_p: the most probable ones that together have at least top_p of e^l; equal ones are kept together
//               min_p: those with e^(l − largest) ≥ min_p
// buffers  logits device float [rows, n]; recent device const uint [rows, count]; the rest is said at the kernels
// grid     one threadgroup of 32·SIMDGROUPS threads for a row: what it takes from one pass to the next stays in it
//
// sample draws by Gumbel's trick: it takes the largest l / temperature − log(E), E exponentially distributed, so one pass
// does without a sorted list. E comes from a hash of seed, step, row and token: the same seed gives the same text,
// whatever the threads do. top_k and top_p look for a threshold by halving an interval of the numbers' bit patterns:
// no sort, no atomics, and sums are made in the same order each time.
// NaN is never chosen, except where there is nothing else (then the token is 0).
#include "common.metal"

constant uint SIMDGROUPS [[function_constant(0)]];
constant uint K [[function_constant(1)]];        // top_k: how many
constant bool INDEXED [[function_constant(2)]];  // sample: the numbers come from top_k, with their tokens

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

// The number that `order` made the bits of.
inline float unorder(uint bits) {
    return as_type<float>(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

inline uint threadgroup_total(uint value, threadgroup uint* scratch, Place place) {
    value = simd_sum(value);
    if (place.simdgroups == 1) {
        return value;
    }
    if (place.lane == 0) {
        scratch[place.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_sum(place.lane < place.simdgroups ? scratch[place.lane] : 0u);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// A number and where it is; the better of two is the larger one, of equal ones the first.
struct Candidate {
    uint order;
    uint index;
};

inline Candidate better(Candidate a, Candidate b) {
    bool second = b.order > a.order || (b.order == a.order && b.index < a.index);
    return Candidate{second ? b.order : a.order, second ? b.index : a.index};
}

inline Candidate simdgroup_best(Candidate best) {
    uint order = simd_max(best.order);
    uint index = simd_min(best.order == order ? best.index : 0xffffffffu);
    return Candidate{order, index};
}

// The best candidate of the threadgroup, in every thread.
inline Candidate threadgroup_best(Candidate best, threadgroup uint* scratch, Place place) {
    best = simdgroup_best(best);
    if (place.simdgroups == 1) {
        return best;
    }
    if (place.lane == 0) {
        scratch[place.simdgroup] = best.order;
        scratch[MAX_SIMDGROUPS + place.simdgroup] = best.index;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    bool there = place.lane < place.simdgroups;
    best.order = there ? scratch[place.lane] : 0u;
    best.index = there ? scratch[MAX_SIMDGROUPS + place.lane] : 0xffffffffu;
    best = simdgroup_best(best);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return best;
}

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
    // Who finds the token before itself leaves it to that one.
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
    best = threadgroup_best(best, scratch, Place{lane, simdgroup, SIMDGROUPS});
    if (thread_index == 0) {
        tokens[row] = best.index;
    }
}

// buffers  0 logits [rows, n]   1 values device float [rows, K]   2 tokens device uint [rows, K]   3 n, at least K
//          Each simdgroup has its own part of the row, so that what it keeps can be written by ascending index.
kernel void top_k(device const float* logits [[buffer(0)]],
                  device float* values [[buffer(1)]],
                  device uint* tokens [[buffer(2)]],
                  constant uint& n [[buffer(3)]],
                  uint row [[threadgroup_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint scratch[2 * MAX_SIMDGROUPS];
    Place place{lane, simdgroup, SIMDGROUPS};
    logits += ulong(row) * n;
    values += ulong(row) * K;
    tokens += ulong(row) * K;
    uint part = (n + SIMDGROUPS - 1) / SIMDGROUPS;
    uint begin = min(simdgroup * part, n);
    uint end = min(begin + part, n);

    // The largest threshold that at least K numbers reach: between `low`, which they do, and `high`, which they do not.
    uint low = 0;
    uint high = 0;
    for (uint i = begin + lane; i < end; i += SIMD_WIDTH) {
        high = max(high, order(logits[i]));
    }
    high = threadgroup_best(Candidate{high, 0}, scratch, place).order + 1;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        uint count = 0;
        for (uint i = begin + lane; i < end; i += SIMD_WIDTH) {
            count += order(logits[i]) >= middle ? 1 : 0;
        }
        count = threadgroup_total(count, scratch, place);
        low = count >= K ? middle : low;
        high = count >= K ? high : middle;
        if (count == K) {
            break;
        }
    }

    // All above the threshold are kept, and of those at it the first.
    uint above = 0;
    uint equal = 0;
    for (uint i = begin + lane; i < end; i += SIMD_WIDTH) {
        uint bits = order(logits[i]);
        above += bits > low ? 1 : 0;
        equal += bits == low ? 1 : 0;
    }
    above = simd_sum(above);
    equal = simd_sum(equal);
    if (lane == 0) {
        scratch[simdgroup] = above;
        scratch[MAX_SIMDGROUPS + simdgroup] = equal;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint before = 0;      // in the parts of simdgroups before this one: numbers above the threshold,
    uint equal_before = 0; // and at it
    uint total_above = 0;
    for (uint i = 0; i < SIMDGROUPS; i++) {
        before += i < simdgroup ? scratch[i] : 0;
        equal_before += i < simdgroup ? scratch[MAX_SIMDGROUPS + i] : 0;
        total_above += scratch[i];
    }
    uint room = K - total_above; // for those at the threshold
    for (uint first = begin; first < end; first += SIMD_WIDTH) {
        uint i = first + lane;
        float value = i < end ? logits[i] : 0.0f;
        uint bits = order(value);
        bool is_equal = i < end && bits == low;
        uint equals = equal_before + simd_prefix_exclusive_sum(is_equal ? 1u : 0u);
        bool keep = i < end && (bits > low || (is_equal && equals < room));
        uint place_kept = before + min(equal_before, room) + simd_prefix_exclusive_sum(keep ? 1u : 0u);
        if (keep) {
            values[place_kept] = value;
            tokens[place_kept] = i;
        }
        before += simd_sum(i < end && bits > low ? 1u : 0u);
        equal_before += simd_sum(is_equal ? 1u : 0u);
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

// buffers  0 values device const float [rows, n]   1 candidates device const uint [rows, n], with INDEXED: their tokens
//          2 tokens device uint [rows]             3 p
kernel void sample(device const float* values [[buffer(0)]],
                   device const uint* candidates [[buffer(1), function_constant(INDEXED)]],
                   device uint* tokens [[buffer(2)]],
                   constant SampleParams& p [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]],
                   uint thread_index [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint scratch[2 * MAX_SIMDGROUPS];
    threadgroup float sums[MAX_SIMDGROUPS];
    Place place{lane, simdgroup, SIMDGROUPS};
    values += ulong(row) * p.n;
    uint width = SIMD_WIDTH * SIMDGROUPS;

    Candidate best{0, 0};
    for (uint i = thread_index; i < p.n; i += width) {
        uint bits = order(values[i]);
        best.index = bits > best.order ? i : best.index;
        best.order = max(bits, best.order);
    }
    best = threadgroup_best(best, scratch, place);
    float largest = unorder(best.order);

    // The largest threshold whose numbers have the probability: between `low`, whose have, and `high`, whose have not.
    uint low = 1;
    uint high = best.order + 1;
    if (p.top_p < 1.0f) {
        float sum = 0.0f;
        for (uint i = thread_index; i < p.n; i += width) {
            sum += order(values[i]) > 0 ? exp(values[i] - largest) : 0.0f;
        }
        float wanted = threadgroup_sum(sum, sums, place) * p.top_p;
        while (high - low > 1) {
            uint middle = low + (high - low) / 2;
            float reached = 0.0f;
            for (uint i = thread_index; i < p.n; i += width) {
                reached += order(values[i]) >= middle ? exp(values[i] - largest) : 0.0f;
            }
            bool enough = threadgroup_sum(reached, sums, place) >= wanted;
            low = enough ? middle : low;
            high = enough ? high : middle;
        }
    }

    uint key = scramble(p.seed_low ^ scramble(p.seed_high ^ scramble(p.step ^ scramble(row + 0x9e3779b9u))));
    float factor = 1.0f / p.temperature;
    Candidate chosen{0, best.index};
    for (uint i = thread_index; i < p.n; i += width) {
        float value = values[i];
        bool keep = order(value) >= low && (p.min_p <= 0.0f || exp(value - largest) >= p.min_p);
        if (keep) {
            uint token = i;
            if (INDEXED) {
                token = candidates[ulong(row) * p.n + i];
            }
            float score = (value - largest) * factor + gumbel(scramble(token ^ key));
            chosen = better(chosen, Candidate{order(score), i});
        }
    }
    chosen = threadgroup_best(chosen, scratch, place);
    if (thread_index == 0) {
        uint token = chosen.index;
        if (INDEXED) {
            token = candidates[ulong(row) * p.n + chosen.index];
        }
        tokens[row] = token;
    }
}
