// The loop counts bytes and indexes structures.
//
// dispatch: 1 x 1
// buffer 0: f32[16] iota
// buffer 1: f32[1] zeros
// buffer 2: u32 = 64
#include <metal_stdlib>
using namespace metal;

struct Item { float weight; float bias; };
kernel void k(device const Item *items [[buffer(0)]], device float *out [[buffer(1)]], constant uint &bytes [[buffer(2)]]) {
    float sum = 0;
#ifdef FIXED
    for (uint i = 0; i < bytes / sizeof(Item); ++i) {
#else
    for (uint i = 0; i < bytes; ++i) {
#endif
        sum += items[i].bias;  // finding: out-of-bounds-read
    }
    out[0] = sum;
}
