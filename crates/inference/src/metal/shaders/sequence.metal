// sequence: the tokens of sequences by position, and the kernels that read and append them. A step needs only a few
// parameters, its position among them, so steps can follow one another without the host. A sequence begins at `offset`
// in the history.
//   take_tokens    tokens[i] = history[offset + first + i], positions[i] = first + i
//   recent_tokens  recent[i] = history[offset + end − 1 − i], or the largest uint before the start of the sequence
//   put_token      history[offset + position] = token[0]; a position from `capacity` on is not stored
//   take_each      tokens[i] = history[sequences[i] · stride + positions[i]], one of each sequence
//   put_each       positions[i] += 1; history[sequences[i] · stride + positions[i]] = tokens[i], if it is below `stride`
//   take_row       y[i] = x[row · n + i]
// grid     threadgroups of 32 threads: one for each 32 numbers to write
#include "common.metal"

struct TakeTokensParams {
    uint first;
    uint count;
    uint offset;
};

// buffers  0 history device const uint   1 tokens, 2 positions device uint [count]   3 p
kernel void take_tokens(device const uint* history [[buffer(0)]],
                        device uint* tokens [[buffer(1)]],
                        device uint* positions [[buffer(2)]],
                        constant TakeTokensParams& p [[buffer(3)]],
                        uint group [[threadgroup_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * SIMD_WIDTH + lane;
    if (i < p.count) {
        tokens[i] = history[p.offset + p.first + i];
        positions[i] = p.first + i;
    }
}

struct RecentTokensParams {
    uint end;
    uint count;
    uint offset;
};

// buffers  0 history device const uint   1 recent device uint [count]   2 p
kernel void recent_tokens(device const uint* history [[buffer(0)]],
                          device uint* recent [[buffer(1)]],
                          constant RecentTokensParams& p [[buffer(2)]],
                          uint group [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * SIMD_WIDTH + lane;
    if (i < p.count) {
        uint token = 0xffffffffu;
        if (i < p.end) {
            token = history[p.offset + p.end - 1 - i];
        }
        recent[i] = token;
    }
}

struct PutTokenParams {
    uint position;
    uint capacity;
    uint offset;
};

// buffers  0 token device const uint [1]   1 history device uint [offset + capacity]   2 p
kernel void put_token(device const uint* token [[buffer(0)]],
                      device uint* history [[buffer(1)]],
                      constant PutTokenParams& p [[buffer(2)]],
                      uint lane [[thread_index_in_simdgroup]]) {
    if (lane == 0 && p.position < p.capacity) {
        history[p.offset + p.position] = token[0];
    }
}

struct EachParams {
    uint count;
    uint stride; // tokens from one sequence to the next
};

// buffers  0 history device const uint   1 positions, 2 sequences device const uint [count]   3 tokens device uint [count]
//          4 p
kernel void take_each(device const uint* history [[buffer(0)]],
                      device const uint* positions [[buffer(1)]],
                      device const uint* sequences [[buffer(2)]],
                      device uint* tokens [[buffer(3)]],
                      constant EachParams& p [[buffer(4)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * SIMD_WIDTH + lane;
    if (i < p.count) {
        tokens[i] = history[sequences[i] * p.stride + positions[i]];
    }
}

// buffers  0 tokens device const uint [count]   1 sequences device const uint [count]   2 positions device uint [count]
//          3 history device uint   4 p
kernel void put_each(device const uint* tokens [[buffer(0)]],
                     device const uint* sequences [[buffer(1)]],
                     device uint* positions [[buffer(2)]],
                     device uint* history [[buffer(3)]],
                     constant EachParams& p [[buffer(4)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * SIMD_WIDTH + lane;
    if (i < p.count) {
        uint position = positions[i] + 1;
        positions[i] = position;
        if (position < p.stride) {
            history[sequences[i] * p.stride + position] = tokens[i];
        }
    }
}

struct TakeRowParams {
    uint row;
    uint n;
};

// buffers  0 x device const T [rows, n]   1 y device T [n]   2 p
template <typename T>
kernel void take_row(device const T* x [[buffer(0)]],
                     device T* y [[buffer(1)]],
                     constant TakeRowParams& p [[buffer(2)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * SIMD_WIDTH + lane;
    if (i < p.n) {
        y[i] = x[ulong(p.row) * p.n + i];
    }
}

INSTANTIATE("take_row_f32", take_row, float)
INSTANTIATE("take_row_f16", take_row, half)
