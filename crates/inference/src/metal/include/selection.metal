// The largest numbers of a row, without sorting it.
//
// A threshold is found by halving an interval of bit patterns, counting each time what reaches the middle: no atomics, and
// the same result whatever the threads do. So that not the whole row is counted thirty times, it is dealt out to groups
// first: if the k-th largest of the groups' largest numbers is t, at least k numbers reach t, and hardly many more do. Those
// go to threadgroup memory, and the rest is found among them. Where they are too many, the row itself is counted.
#ifndef METALWORKS_SELECTION_METAL
#define METALWORKS_SELECTION_METAL

#include "common.metal"

// Groups of numbers in each lane.
constant constexpr uint GROUPS = 8;

// Numbers that there is room for in threadgroup memory.
constant constexpr uint CANDIDATES = 2048;

// The sum over the threadgroup, in every thread.
inline uint threadgroup_total(uint value, threadgroup uint* scratch, ThreadPosition place) {
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

// A number and where it is.
struct Candidate {
    uint order;
    uint index;
};

// The larger of two, of equal ones the first.
inline Candidate better(Candidate a, Candidate b) {
    bool second = b.order > a.order || (b.order == a.order && b.index < a.index);
    return Candidate{second ? b.order : a.order, second ? b.index : a.index};
}

inline Candidate simdgroup_best(Candidate best) {
    uint largest = simd_max(best.order);
    return Candidate{largest, simd_min(best.order == largest ? best.index : 0xffffffffu)};
}

// The best candidate of the threadgroup, in every thread. `scratch` has room for 2·MAX_SIMDGROUPS numbers.
inline Candidate threadgroup_best(Candidate best, threadgroup uint* scratch, ThreadPosition place) {
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

// What a simdgroup chooses from: its part of a row …
struct RowPart {
    device const float* row;
    uint begin;
    uint size;

    uint bits(uint i) const { return order(row[begin + i]); }
    uint index(uint i) const { return begin + i; }
};

// … or those numbers of it that are candidates. Both are by ascending index.
struct Candidates {
    threadgroup uint* all_bits;
    threadgroup uint* indices;
    uint size;

    uint bits(uint i) const { return all_bits[i]; }
    uint index(uint i) const { return indices[i]; }
};

inline RowPart row_part(device const float* row, uint n, ThreadPosition place) {
    uint each = (n + place.simdgroups - 1) / place.simdgroups;
    uint begin = min(place.simdgroup * each, n);
    return RowPart{row, begin, min(each, n - begin)};
}

// Bits that at least `wanted` numbers of the threadgroup's row reach, or 0; and those of its largest number.
inline uint likely_bound(RowPart part, uint wanted, threadgroup uint* scratch, ThreadPosition place, thread uint& largest) {
    uint group_largest[GROUPS];
    for (uint g = 0; g < GROUPS; g++) {
        group_largest[g] = 0;
    }
    for (uint first = place.lane; first < part.size; first += GROUPS * SIMD_WIDTH) {
        for (uint g = 0; g < GROUPS; g++) {
            uint i = first + g * SIMD_WIDTH;
            group_largest[g] = i < part.size ? max(group_largest[g], part.bits(i)) : group_largest[g];
        }
    }
    uint lane_largest = 0;
    for (uint g = 0; g < GROUPS; g++) {
        lane_largest = max(lane_largest, group_largest[g]);
    }
    largest = threadgroup_best(Candidate{lane_largest, 0}, scratch, place).order;

    uint low = 0;
    uint high = largest + 1;
    while (high - low > 1) {
        uint middle = low + (high - low) / 2;
        uint count = 0;
        for (uint g = 0; g < GROUPS; g++) {
            count += group_largest[g] >= middle ? 1 : 0;
        }
        bool enough = threadgroup_total(count, scratch, place) >= wanted;
        low = enough ? middle : low;
        high = enough ? high : middle;
    }
    return low;
}

// Copies what reaches `low` out of a part, as far as there is `room`; says how many there are.
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
