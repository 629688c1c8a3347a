// Lane 0 has left the loop in which the others ask for its value.
//
// dispatch: 1 x 32
// buffer 0: u32[32] iota
// buffer 1: u32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], uint t [[thread_position_in_threadgroup]]) {
    uint s = 0;
#ifdef FIXED
    const uint v = simd_broadcast(x[t], 0);
    for (uint i = 0; i < t; i++) s += v;
#else
    for (uint i = 0; i < t; i++) s += simd_broadcast(x[t], 0);  // finding: inactive-lane
#endif
    y[t] = s;
}
