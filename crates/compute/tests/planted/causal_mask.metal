// The causal mask lets a query see the key after its own.
//
// dispatch: 1 x 16
// buffer 0: f32[16] ones
// buffer 1: f32[16] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *keys [[buffer(0)]], device float *out [[buffer(1)]],
              uint query [[thread_position_in_grid]]) {
#ifdef FIXED
    const uint last = query;
#else
    const uint last = query + 1;
#endif
    float sum = 0;
    for (uint key = 0; key <= last; ++key) {
        sum += keys[key];  // finding: out-of-bounds-read
    }
    out[query] = sum;
}
