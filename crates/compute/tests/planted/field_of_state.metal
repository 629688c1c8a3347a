// A field of the state of a loop has no value before the first iteration.
//
// dispatch: 1 x 32
// buffer 0: f32[256] iota
// buffer 1: f32[32] zeros
#include <metal_stdlib>
using namespace metal;

struct State {
    float sum;
    float peak;
    uint at : 8;
    uint count : 8;
};

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    State state;
    state.sum = 0;
    state.at = 0;
    state.count = 0;
#ifdef FIXED
    state.peak = -INFINITY;
#endif
    for (uint j = 0; j < 8; ++j) {
        const float x = in[i * 8 + j];
        state.sum += x;
        if (x > state.peak) {  // finding: uninitialized-read
            state.peak = x;
            state.at = j;
        }
        state.count = state.count + 1;
    }
    const State last = state;
    out[i] = last.sum + last.peak * last.at / last.count;
}
