// The divisor is a number that the host did not set.
//
// dispatch: 1 x 32
// buffer 0: u32[32] zeros
// buffer 1: u32 = 0
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *out [[buffer(0)]], constant uint &heads [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint divisor = max(heads, 1u);
#else
    const uint divisor = heads;
#endif
    out[i] = i / divisor;  // finding: division-by-zero
}
