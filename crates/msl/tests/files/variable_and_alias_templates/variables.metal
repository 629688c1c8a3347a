// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> constexpr constant T pi = T(3.14159265f);
template <typename T> constant constexpr bool is_small = sizeof(T) <= 2;
template <typename T> constant constexpr bool is_small<device T *> = true;
template <> constant constexpr bool is_small<float> = true;
template <int N> constexpr constant int square = N * N;
template <typename T, int N = 2> constant constexpr int size = sizeof(T) * N;
static_assert(is_small<half> && !is_small<int> && is_small<device int *> && is_small<float>, "");
static_assert(square<4> == 16 && size<float> == 8 && size<float, 3> == 12, "");
template <typename T> T circle(T r) { return pi<T> * r * r; }
kernel void k(device float *out) { out[0] = pi<float> + float(pi<half>) + circle(2.0f) + float(square<3>); }
