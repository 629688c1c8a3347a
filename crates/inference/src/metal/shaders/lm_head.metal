// lm_head: logits[m,n] = Σ_k W[n,k] · x[m,k], the logits of all tokens, and optionally the token with the largest.
//
//     lm_head          the product; LOGITS stores it, ARGMAX stores the best token of each tile of 32
//     lm_head_argmax   the best of all tiles; among equal logits, the lowest token; NaN is chosen only if there is
//                      nothing else
//
// Without LOGITS a greedy step writes 8 bytes for 32 tokens instead of 128, and needs no pass over the vocabulary. The
// product is that of include/gemv.metal with one row per lane, so the best of a tile is one reduction over lanes.
//
// buffers of lm_head
//          0 w device const uchar: N × K of the format F, `blocks` or `tiles`   1 x device const T [M, K]
//          2 logits device float [M, N], with LOGITS
//          3 keys, 4 tokens device uint [M, ceil(N / 32)], with ARGMAX: the best logit, mapped by `order` of
//          common.metal, and its token   5 p constant GemvParams
//          6 packed_x device const PackedBlock [M, K / 32] instead of x, with PACKED_X
// grid     ceil(M / BATCH) × ceil(N / 32) threadgroups of 32 · SPLIT threads
#include "gemv.metal"

constant bool LOGITS [[function_constant(27)]];
constant bool ARGMAX [[function_constant(28)]];

template <typename F, typename T>
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SPLIT)]]
kernel void lm_head(device const uchar* w [[buffer(0)]],
                    device const T* x [[buffer(1), function_constant(NUMBERS_X)]],
                    device float* logits [[buffer(2), function_constant(LOGITS)]],
                    device uint* keys [[buffer(3), function_constant(ARGMAX)]],
                    device uint* tokens [[buffer(4), function_constant(ARGMAX)]],
                    constant GemvParams& p [[buffer(5)]],
                    device const PackedBlock* packed_x [[buffer(6), function_constant(PACKED_X)]],
                    uint2 group [[threadgroup_position_in_grid]],
                    uint2 groups [[threadgroups_per_grid]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float staged[STAGED];
    threadgroup float sums[STAGED / 16];
    uint first = group.x * BATCH, rows = min(BATCH, p.m - first), row = group.y * TILE_ROWS + lane;
    float result[MAX_BATCH];
    multiply_rows<F>(w, row_of_lane(group.y, lane, p.n), Vectors<T>{x, packed_x, first, rows}, Stage{staged, sums},
                     ThreadPosition{lane, simdgroup, SPLIT}, result);
    if (simdgroup != 0) {
        return;
    }
    for (uint m = 0; m < BATCH; m++) {
        if (m < rows) {
            if (LOGITS && row < p.n) {
                logits[ulong(first + m) * p.n + row] = result[m];
            }
            if (ARGMAX) {
                // Rows past the end have NaN's key 0; their higher token ranks them below NaN.
                uint key = row < p.n ? order(result[m]) : 0u;
                uint best = simd_max(key);
                uint token = simd_min(key == best && row < p.n ? row : 0xffffffffu);
                if (lane == 0) {
                    ulong at = ulong(first + m) * groups.y + group.y;
                    keys[at] = best;
                    tokens[at] = token;
                }
            }
        }
    }
}

struct LmHeadArgmaxParams {
    uint tiles; // of lm_head: ceil(N / 32)
};

// buffers  0 keys, 1 tokens device const uint [M, tiles]   2 result device uint [M]   3 p constant LmHeadArgmaxParams
// grid     M threadgroups of 32 · SIMDGROUPS threads
[[max_total_threads_per_threadgroup(SIMD_WIDTH * MAX_SIMDGROUPS)]]
kernel void lm_head_argmax(device const uint* keys [[buffer(0)]],
                           device const uint* tokens [[buffer(1)]],
                           device uint* result [[buffer(2)]],
                           constant LmHeadArgmaxParams& p [[buffer(3)]],
                           uint m [[threadgroup_position_in_grid]],
                           uint thread_index [[thread_position_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint best_keys[MAX_SIMDGROUPS], best_tokens[MAX_SIMDGROUPS];
    uint best = 0, token = 0xffffffffu;
    for (uint tile = 0; tile < p.tiles; tile += SIMD_WIDTH * SIMDGROUPS) {
        // Threads past the end look at the last tile again.
        ulong at = ulong(m) * p.tiles + min(tile + thread_index, p.tiles - 1);
        uint key = keys[at], other = tokens[at];
        bool is_better = key > best || (key == best && other < token);
        best = is_better ? key : best;
        token = is_better ? other : token;
    }
    uint largest = simd_max(best);
    token = simd_min(best == largest ? token : 0xffffffffu);
    if (SIMDGROUPS > 1) {
        if (lane == 0) {
            best_keys[simdgroup] = largest;
            best_tokens[simdgroup] = token;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        best = best_keys[min(lane, SIMDGROUPS - 1)];
        largest = simd_max(best);
        token = simd_min(best == largest ? best_tokens[min(lane, SIMDGROUPS - 1)] : 0xffffffffu);
    }
    if (thread_index == 0) {
        result[m] = token;
    }
}

#define INSTANTIATE_LM_HEAD(format, F)                       \
    INSTANTIATE("lm_head_" format "_f32", lm_head, F, float) \
    INSTANTIATE("lm_head_" format "_f16", lm_head, F, half)

ALL_FORMATS(INSTANTIATE_LM_HEAD)
