// The next tile is loaded ahead, in the last step as well.
//
// dispatch: 1 x 32
// buffer 0: f32[128] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
              uint lane [[thread_index_in_simdgroup]]) {
    float next = in[lane], sum = 0;
    for (uint step = 1; step <= 4; ++step) {
        const float now = next;
#ifdef FIXED
        if (step < 4) { next = in[step * 32 + lane]; }
#else
        next = in[step * 32 + lane];  // finding: out-of-bounds-read
#endif
        sum += now * (step < 4 ? 1.0f : min(next, 0.0f) + 1.0f);
    }
    out[lane] = sum;
}
