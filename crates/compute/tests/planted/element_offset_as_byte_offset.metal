// The host passes an offset in elements, and the kernel adds it to a pointer to bytes.
//
// dispatch: 1 x 32
// buffer 0: u8[256] iota
// buffer 1: f32[32] zeros
// buffer 2: u32 = 3
#include <metal_stdlib>
using namespace metal;

kernel void k(device const uchar *data [[buffer(0)]], device float *out [[buffer(1)]], constant uint &offset [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    device const float *row = (device const float *)data + offset;
#else
    device const float *row = (device const float *)(data + offset);
#endif
    out[i] = row[i];  // finding: misaligned-read
}
