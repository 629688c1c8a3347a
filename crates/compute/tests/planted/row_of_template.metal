// The last elements of a row are read in threes by a method of a template.
//
// dispatch: 3 x 32,4
// buffer 0: f16[1000] ones
// buffer 1: f16[100] ones
// buffer 2: f16[12] zeros
// buffer 3: u32 = 10 100
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Row {
    device const T *p; uint n;
    T at(uint i) const { return p[i]; }  // finding: out-of-bounds-read
};
template <typename T, int V> float part(Row<T> r, device const T *x, uint lane) {
    float s = 0;
#ifdef FIXED
    for (uint i = lane * V; i < r.n; i += 32 * V) for (int j = 0; j < V; j++) if (i + j < r.n) s += float(r.at(i + j)) * float(x[i + j]);
#else
    for (uint i = lane * V; i < r.n; i += 32 * V) for (int j = 0; j < V; j++) s += float(r.at(i + j)) * float(x[min(i + j, r.n - 1)]);
#endif
    return s;
}
template <typename T> [[host_name("k")]] kernel void gemv(device const T *w [[buffer(0)]], device const T *x [[buffer(1)]], device T *y [[buffer(2)]],
        constant uint2 &s [[buffer(3)]], uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]);
template <typename T> kernel void gemv(device const T *w [[buffer(0)]], device const T *x [[buffer(1)]], device T *y [[buffer(2)]],
        constant uint2 &s [[buffer(3)]], uint g [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint row = g * 4 + sg;
    if (row >= s.x) return;
    Row<T> r = {w + row * s.y, s.y};
    const float v = simd_sum(part<T, 3>(r, x, lane));
    if (lane == 0) y[row] = T(v);
}
template [[host_name("k")]] kernel void gemv<half>(device const half *, device const half *, device half *, constant uint2 &, uint, uint, uint);
