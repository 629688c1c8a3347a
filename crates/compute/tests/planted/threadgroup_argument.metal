// The host reserves bytes for fewer floats than there are threads.
//
// dispatch: 1 x 32
// threadgroup 0: 64
// buffer 0: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *out [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
              uint i [[thread_position_in_threadgroup]]) {
#ifdef FIXED
    const uint at = i / 2;
    if (i % 2 == 1) { return; }
#else
    const uint at = i;
#endif
    tile[at] = float(i);  // finding: out-of-bounds-write
    out[i] = tile[at];    // finding: out-of-bounds-read?
}
