// The elements of an array in a struct are summed, and those beyond the width were never set.
//
// dispatch: 1 x 32
// buffer 0: f32[128] iota
// buffer 1: f32[32] zeros
// buffer 2: u32 = 3
#include <metal_stdlib>
using namespace metal;

struct Row {
    uint width;
    float values[4];
};

kernel void k(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &n [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
    Row row;
    row.width = n;
    for (uint j = 0; j < n; ++j) {
        row.values[j] = in[i * 4 + j];
    }
    float sum = 0;
#ifdef FIXED
    const uint count = row.width;
#else
    const uint count = 4;
#endif
    for (uint j = 0; j < count; ++j) {
        sum += row.values[j];  // finding: uninitialized-read
    }
    out[i] = sum;
}
