// A loader with template parameters overwrites a tile that other threads still read.
//
// dispatch: 2,2 x 128
// buffer 0: f16[4096] ones
// buffer 1: f16[4096] ones
// buffer 2: f32[4096] zeros
#include <metal_stdlib>
using namespace metal;

template <typename T, short ROWS, short COLS, short THREADS>
struct Loader {
    const device T *src; threadgroup T *dst; int ld; short tid;
    Loader(const device T *s, threadgroup T *d, int l, short t) : src(s), dst(d), ld(l), tid(t) {}
    void load() const {
        for (short i = tid; i < ROWS * COLS; i += THREADS) {
            dst[i] = src[(i / COLS) * ld + i % COLS];
        }
    }
    void next(int by) { src += by; }
};
template <typename T, short N>
float dot_tile(const threadgroup T *a, const threadgroup T *b, short r, short c) {
    float s = 0;
    for (short j = 0; j < N; j++) s += float(a[r * N + j]) * float(b[j * 32 + c]);  // finding: race
    return s;
}
kernel void k(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]],
              uint2 g [[threadgroup_position_in_grid]], ushort t [[thread_index_in_threadgroup]]) {
    threadgroup half ta[32 * 32]; threadgroup half tb[32 * 32];
    Loader<half, 32, 32, 128> la(a + g.y * 32 * 64, ta, 64, t), lb(b + g.x * 32, tb, 64, t);
    float sum[8] = {};
    for (int k0 = 0; k0 < 64; k0 += 32) {
        la.load();
        lb.load();
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short e = 0; e < 8; e++) { short i = t + e * 128; sum[e] += dot_tile<half, 32>(ta, tb, i / 32, i % 32); }
#ifdef FIXED
        threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
        la.next(32); lb.next(32 * 64);
    }
    for (short e = 0; e < 8; e++) { short i = t + e * 128; c[(g.y * 32 + i / 32) * 64 + g.x * 32 + i % 32] = sum[e]; }
}
