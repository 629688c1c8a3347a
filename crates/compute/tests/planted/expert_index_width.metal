// The offset of an expert is computed in 16 bits and becomes negative.
//
// dispatch: 1 x 32
// buffer 0: u8[40000] ones
// buffer 1: u8[32] zeros
// buffer 2: u32 = 199
#include <metal_stdlib>
using namespace metal;

// llama.cpp, pull request 27944: the width of expert indices.
kernel void k(device const uchar *weights [[buffer(0)]], device uchar *out [[buffer(1)]],
              constant uint &expert [[buffer(2)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const int offset = int(expert) * 200;
#else
    const short offset = short(expert) * short(200);
#endif
    out[i] = weights[offset + int(i)];  // finding: out-of-bounds-read
}
