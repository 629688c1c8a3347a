// Kernels that measure the limits of a device.
//
//     limit_copy   y = x, CHUNK numbers for each simdgroup
//     limit_read   the sum of CHUNK numbers of x for each simdgroup, so that no load can be optimized away
//     limit_fma    CHAINS chains of ROUNDS multiply-adds for each lane; enough chains to keep any unit busy
#include <metal_stdlib>
using namespace metal;

constant constexpr uint CHUNK = 2048;
constant constexpr uint CHAINS = 8;

kernel void limit_copy(device const float* x [[buffer(0)]],
                       device float* y [[buffer(1)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    for (uint i = 0; i < CHUNK; i += 128) {
        uint at = group * CHUNK + i + lane;
        float a = x[at], b = x[at + 32], c = x[at + 64], d = x[at + 96];
        y[at] = a;
        y[at + 32] = b;
        y[at + 64] = c;
        y[at + 96] = d;
    }
}

kernel void limit_read(device const float* x [[buffer(0)]],
                       device float* y [[buffer(1)]],
                       uint group [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    float a = 0, b = 0, c = 0, d = 0;
    for (uint i = 0; i < CHUNK; i += 128) {
        uint at = group * CHUNK + i + lane;
        a += x[at];
        b += x[at + 32];
        c += x[at + 64];
        d += x[at + 96];
    }
    y[lane] = (a + b) + (c + d);
}

kernel void limit_fma(device const float* x [[buffer(0)]],
                      device float* y [[buffer(1)]],
                      constant uint& rounds [[buffer(2)]],
                      uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    float a = x[lane], b = x[lane + 32];
    float c0 = a, c1 = a + 1, c2 = a + 2, c3 = a + 3, c4 = a + 4, c5 = a + 5, c6 = a + 6, c7 = a + 7;
    for (uint i = 0; i < rounds; i++) {
        c0 = fma(c0, a, b);
        c1 = fma(c1, a, b);
        c2 = fma(c2, a, b);
        c3 = fma(c3, a, b);
        c4 = fma(c4, a, b);
        c5 = fma(c5, a, b);
        c6 = fma(c6, a, b);
        c7 = fma(c7, a, b);
    }
    y[group * 32 + lane] = ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7));
}
