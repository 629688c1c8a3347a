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
