// The kernels that `cargo bench -p metalworks-compute` measures, each beside the same loop in Rust.
#include <metal_stdlib>
using namespace metal;

constant uint K [[function_constant(0)]]; // columns of a matrix, length of a row

// result[i] = silu(a[i]) * b[i]
kernel void silu_mul(device const float* a [[buffer(0)]],
                     device const float* b [[buffer(1)]],
                     device float* result [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
    float x = a[i];
    result[i] = x / (1.0f + exp(-x)) * b[i];
}

// result[i] = a[i] + b[i], for i < n
kernel void add(device const float* a [[buffer(0)]],
                device const float* b [[buffer(1)]],
                device float* result [[buffer(2)]],
                constant uint& n [[buffer(3)]],
                uint i [[thread_position_in_grid]]) {
    if (i < n) {
        result[i] = a[i] + b[i];
    }
}

// One simdgroup for each row of n numbers, n known when it runs.
kernel void row_sum(device const float* x [[buffer(0)]],
                    device float* result [[buffer(1)]],
                    constant uint& n [[buffer(2)]],
                    uint2 at [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    device const float* row = x + ulong(at.y) * n;
    float sum = 0.0f;
    for (uint i = lane; i < n; i += 32) {
        sum += row[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        result[at.y] = sum;
    }
}

// One simdgroup for each row of K numbers.
kernel void softmax(device const float* x [[buffer(0)]],
                    device float* result [[buffer(1)]],
                    uint2 at [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
    device const float* row = x + ulong(at.y) * K;
    device float* out = result + ulong(at.y) * K;
    float largest = -INFINITY;
    for (uint i = lane; i < K; i += 32) {
        largest = max(largest, row[i]);
    }
    largest = simd_max(largest);
    float sum = 0.0f;
    for (uint i = lane; i < K; i += 32) {
        float e = exp(row[i] - largest);
        sum += e;
        out[i] = e;
    }
    float scale = 1.0f / simd_sum(sum);
    for (uint i = lane; i < K; i += 32) {
        out[i] *= scale;
    }
}

// Matrix-vector products: one simdgroup for each row, one column for each lane.
kernel void gemv_f16(device const half* weights [[buffer(0)]],
                     device const float* x [[buffer(1)]],
                     device float* result [[buffer(2)]],
                     uint2 at [[thread_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]]) {
    device const half* row = weights + ulong(at.y) * K;
    float sum = 0.0f;
    for (uint i = lane; i < K; i += 32) {
        sum += float(row[i]) * x[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        result[at.y] = sum;
    }
}

// Blocks as GGUF has them: a scale and 32 signed bytes.
struct block_q8_0 {
    half scale;
    char quants[32];
};

kernel void gemv_q8_0(device const block_q8_0* weights [[buffer(0)]],
                      device const float* x [[buffer(1)]],
                      device float* result [[buffer(2)]],
                      uint2 at [[thread_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    device const block_q8_0* row = weights + ulong(at.y) * (K / 32);
    float sum = 0.0f;
    for (uint block = 0; block < K / 32; block++) {
        sum += float(row[block].scale) * (float(row[block].quants[lane]) * x[block * 32 + lane]);
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        result[at.y] = sum;
    }
}

// The numbers of Q4_0, laid out for 32 lanes: the low halves of 32 bytes are one block, the high halves the next.
kernel void gemv_q4_0(device const uchar* quants [[buffer(0)]],
                      device const half* scales [[buffer(1)]],
                      device const float* x [[buffer(2)]],
                      device float* result [[buffer(3)]],
                      uint2 at [[thread_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    device const uchar* row = quants + ulong(at.y) * (K / 2);
    device const half* scale = scales + ulong(at.y) * (K / 32);
    float sum = 0.0f;
    for (uint pair = 0; pair < K / 64; pair++) {
        uchar both = row[pair * 32 + lane];
        float low = float(int(both & 15) - 8) * x[pair * 64 + lane];
        float high = float(int(both >> 4) - 8) * x[pair * 64 + 32 + lane];
        sum += float(scale[pair * 2]) * low + float(scale[pair * 2 + 1]) * high;
    }
    sum = simd_sum(sum);
    if (lane == 0) {
        result[at.y] = sum;
    }
}
