// Threads set bytes of one word by reading and writing the word.
//
// dispatch: 1 x 32
// buffer 0: u8[32] iota
// buffer 1: u32[8] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uchar *q [[buffer(0)]], device uint *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    ((device uchar *)out)[i] = q[i];
#else
    out[i / 4] |= uint(q[i]) << (8 * (i % 4));  // finding: race
#endif
}
