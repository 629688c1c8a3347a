// There are more heads of keys than of queries, so that a group has none.
//
// dispatch: 1 x 32
// buffer 0: u32[32] zeros
// buffer 1: u32 = 4
// buffer 2: u32 = 8
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *y [[buffer(0)]], constant uint &h [[buffer(1)]], constant uint &kv [[buffer(2)]], uint t [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint group = max(h / kv, 1u);
#else
    const uint group = h / kv;
#endif
    y[t] = t / group;  // finding: division-by-zero
}
