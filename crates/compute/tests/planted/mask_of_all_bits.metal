// A mask of 64 bits is shifted by 64.
//
// dispatch: 1 x 4
// buffer 0: u64[4] zeros
// buffer 1: u32 = 64
#include <metal_stdlib>
using namespace metal;

kernel void k(device ulong *y [[buffer(0)]], constant uint &n [[buffer(1)]], uint t [[thread_position_in_grid]]) {
    ulong v = 1;
#ifdef FIXED
    v <<= n - 1;
#else
    v <<= n;  // finding: shift-out-of-range
#endif
    y[t] = v + t;
}
