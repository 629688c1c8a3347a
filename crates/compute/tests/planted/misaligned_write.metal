// A block of 18 bytes is written through a pointer to 32-bit numbers.
//
// dispatch: 1 x 4
// buffer 0: u8[80] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device uchar *blocks [[buffer(0)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device ushort *scale = (device ushort *)(blocks + 18 * i);
    *scale = ushort(i);
#else
    device uint *scale = (device uint *)(blocks + 18 * i);
    *scale = i;  // finding: misaligned-write
#endif
}
