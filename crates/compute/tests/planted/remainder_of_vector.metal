// One component of a vector of divisors is 0.
//
// dispatch: 1 x 32
// buffer 0: i32[128] zeros
// buffer 1: i32 = 1 2 0 4
#include <metal_stdlib>
using namespace metal;

kernel void k(device int4 *y [[buffer(0)]], constant int4 &d [[buffer(1)]], uint t [[thread_position_in_grid]]) {
#ifdef FIXED
    y[t] = int4(t) % max(d, 1);
#else
    y[t] = int4(t) % d;  // finding: division-by-zero
#endif
}
