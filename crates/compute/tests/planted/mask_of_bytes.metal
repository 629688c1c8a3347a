// The host's mask has a byte for each position, and the kernel reads words.
//
// dispatch: 1 x 64
// buffer 0: u8[64] ones
// buffer 1: f32[64] zeros
#include <metal_stdlib>
using namespace metal;

#ifdef FIXED
typedef uchar Mask;
#else
typedef uint Mask;
#endif

kernel void k(device const Mask *mask [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    out[i] = mask[i] != 0 ? 1.0f : 0.0f;  // finding: out-of-bounds-read
}
