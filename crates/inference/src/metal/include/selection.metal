// Selects the largest numbers of a row without sorting it.
//
// A threshold is found by bisecting an interval of bit patterns, counting the numbers that reach the middle: without
// atomics, and with the same result in any order of threads. To avoid thirty passes over the whole row, its numbers are
// first divided into groups: if t is the k-th largest of the groups' maxima, at least k numbers reach t, and rarely
// many more. These candidates are copied to threadgroup memory, and the threshold is found among them. If they do not
// fit, the passes go over the row itself.
#ifndef METALWORKS_SELECTION_METAL
#define METALWORKS_SELECTION_METAL

#include "common.metal"

// Groups per lane.
constant constexpr uint GROUPS = 8;

// Candidates that fit in threadgroup memory.
constant constexpr uint CANDIDATES = 2048;

// The sum over the threadgroup, in every thread.
inline uint threadgroup_total(uint value, threadgroup uint* scratch, ThreadPosition position) {
    value = simd_sum(value);
    if (position.simdgroups == 1) {
        return value;
    }
    if (position.lane == 0) {
        scratch[position.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_sum(position.lane < position.simdgroups ? scratch[position.lane] : 0u);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// A number and its index.
struct Candidate {
    uint order;
    uint index;
};

// The larger of two; if they are equal, the one with the lower index.
inline Candidate better(Candidate a, Candidate b) {
    bool second = b.order > a.order || (b.order == a.order && b.index < a.index);
    return Candidate{second ? b.order : a.order, second ? b.index : a.index};
}

inline Candidate simdgroup_best(Candidate best) {
    uint largest = simd_max(best.order);
    return Candidate{largest, simd_min(best.order == largest ? best.index : 0xffffffffu)};
}

// Best candidate of the threadgroup, in every thread. `scratch` has room for 2·MAX_SIMDGROUPS numbers.
inline Candidate threadgroup_best(Candidate best, threadgroup uint* scratch, ThreadPosition position) {
    best = simdgroup_best(best);
    if (position.simdgroups == 1) {
        return best;
    }
    if (position.lane == 0) {
        scratch[position.simdgroup] = best.order;
        scratch[MAX_SIMDGROUPS + position.simdgroup] = best.index;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    bool there = position.lane < position.simdgroups;
    best.order = there ? scratch[position.lane] : 0u;
    best.index = there ? scratch[MAX_SIMDGROUPS + position.lane] : 0xffffffffu;
    best = simdgroup_best(best);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return best;
}

// Numbers that a simdgroup selects from: its part of a row …
struct RowPart {
    device const float* row;
    uint begin;
    uint size;

    uint bits(uint i) const { return order(row[begin + i]); }
    uint index(uint i) const { return begin + i; }
};

// … or the candidates of that part. Both are in ascending order of index.
struct Candidates {
    threadgroup uint* all_bits;
    threadgroup uint* indices;
    uint size;

    uint bits(uint i) const { return all_bits[i]; }
    uint index(uint i) const { return indices[i]; }
};

inline RowPart row_part(device const float* row, uint n, ThreadPosition position) {
    uint each = (n + position.simdgroups - 1) / position.simdgroups;
    uint begin = min(position.simdgroup * each, n);
    return RowPart{row, begin, min(each, n - begin)};
}

// Returns bits that at least `wanted` numbers of the threadgroup's row reach, or 0; `largest` receives the maximum's
// bits.
inline uint likely_bound(RowPart part, uint wanted, threadgroup uint* scratch, ThreadPosition position, thread uint& largest) {
    uint group_largest[GROUPS];
    for (uint g = 0; g < GROUPS; g++) {
        group_largest[g] = 0;
    }
    for (uint first = position.lane; first < part.size; first += GROUPS * SIMD_WIDTH) {
        for (uint g = 0; g < GROUPS; g++) {
            uint i = first + g * SIMD_WIDTH;
            group_largest[g] = i < part.size ? max(group_largest[g], part.bits(i)) : group_largest[g];
        }
    }
    uint lane_largest = 0;
    for (uint g = 0; g < GROUPS; g++) {
        lane_largest = max(lane_largest, group_largest[g]);
    }
    largest = threadgroup_best(Candidate{lane_largest, 0}, scratch, position).order;

    uint low = 0;
    uint high = largest + 1;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        uint count = 0;
        for (uint g = 0; g < GROUPS; g++) {
            count += group_largest[g] >= middle ? 1 : 0;
        }
        bool enough = threadgroup_total(count, scratch, position) >= wanted;
        low = enough ? middle : low;
        high = enough ? high : middle;
    }
    return low;
}

// Copies the numbers of a part that reach `low`, up to `room` of them; returns their total number.
inline uint collect(RowPart part, uint low, threadgroup uint* bits, threadgroup uint* indices, uint room, uint lane) {
    uint count = 0;
    for (uint first = 0; first < part.size; first += SIMD_WIDTH) {
        uint i = first + lane;
        uint own = i < part.size ? part.bits(i) : 0;
        bool keep = i < part.size && own >= low;
        if (simd_any(keep)) {
            uint place_kept = count + simd_prefix_exclusive_sum(keep ? 1u : 0u);
            if (keep && place_kept < room) {
                bits[place_kept] = own;
                indices[place_kept] = part.index(i);
            }
            count += simd_sum(keep ? 1u : 0u);
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    return count;
}

#endif
