// pack: numbers to the blocks of include/packed.metal, 32 numbers with a scale each. x is f32 or f16.
//
// buffers  0 x device const T [blocks · 32]   1 y device PackedBlock [blocks]   2 blocks constant uint
// grid     ceil(blocks / PACKED_BLOCKS) threadgroups of 32 threads: PACKED_BLOCKS blocks each, so that a thread of a CPU
//          has enough to do
// moves    (32 · sizeof(T) + 48) · blocks bytes
#include "packed.metal"

constant constexpr uint PACKED_BLOCKS = 8;

template <typename T>
kernel void pack_numbers(device const T* x [[buffer(0)]],
                         device PackedBlock* y [[buffer(1)]],
                         constant uint& blocks [[buffer(2)]],
                         uint group [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
    for (uint block = group * PACKED_BLOCKS; block < min((group + 1) * PACKED_BLOCKS, blocks); block++) {
        pack(float(x[ulong(block) * PACKED_NUMBERS + lane]), y + block, lane);
    }
}

INSTANTIATE("pack_f32", pack_numbers, float)
INSTANTIATE("pack_f16", pack_numbers, half)

// round_numbers: numbers to half, for the products of gemm.metal. Those that half cannot express become the largest that it
// can. Eight numbers a thread.
//
// buffers  0 x device const float [count · 8]   1 y device half [count · 8]   2 count constant uint
// grid     ceil(count / 256) threadgroups of 256 threads
// moves    48 · count bytes
constant constexpr uint ROUNDING_THREADS = 256;

[[max_total_threads_per_threadgroup(ROUNDING_THREADS)]]
kernel void round_numbers(device const float4* x [[buffer(0)]],
                          device half4* y [[buffer(1)]],
                          constant uint& count [[buffer(2)]],
                          uint group [[threadgroup_position_in_grid]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
    uint i = group * ROUNDING_THREADS + simdgroup * SIMD_WIDTH + lane;
    if (i < count) {
        float4 low = x[2 * i], high = x[2 * i + 1];
        y[2 * i] = half4(clamp(low, -65504.0f, 65504.0f));
        y[2 * i + 1] = half4(clamp(high, -65504.0f, 65504.0f));
    }
}
