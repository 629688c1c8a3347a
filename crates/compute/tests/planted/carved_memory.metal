// Threadgroup memory is cut into halfs and floats, and an odd number of halfs comes first.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: f32[32] zeros
// buffer 2: u32 = 33
// threadgroup 0: 256
#include <metal_stdlib>
using namespace metal;

// llama.cpp, pull request 27944: alignment of threadgroup memory.
kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &count [[buffer(2)]],
              threadgroup half *memory [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    threadgroup float *sums = (threadgroup float *)(memory + (count + 1) / 2 * 2);
#else
    threadgroup float *sums = (threadgroup float *)(memory + count);
#endif
    memory[i] = half(in[i]);
    sums[i] = in[i];  // finding: misaligned-write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = float(memory[31 - i]) + sums[31 - i];  // finding: misaligned-read
}
