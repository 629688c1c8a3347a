// The quants of a block of 18 bytes are read as a word.
//
// dispatch: 1 x 80
// buffer 0: u8[1440] zeros
// buffer 1: u32[80] zeros
#include <metal_stdlib>
using namespace metal;

struct block_q4_0 { half d; uchar qs[16]; };
kernel void k(device const block_q4_0 *w [[buffer(0)]], device uint *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device const ushort *q = (device const ushort *)w[i].qs;
    y[i] = q[0] | uint(q[1]) << 16;
#else
    y[i] = *(device const uint *)w[i].qs;  // finding: misaligned-read
#endif
}
