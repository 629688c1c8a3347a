// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T identity(T x) { return x; }
template <class T, class U> T convert(U x) { return static_cast<T>(x); }
template <typename T> T sum(device const T *p, uint n) { T s = 0; for (uint i = 0; i < n; i++) s += p[i]; return s; }
template <typename T, typename A = float> A accumulate(T x) { return A(x); }
template <typename T, int N> T dot(vec<T, N> a, vec<T, N> b) { T s = 0; for (int i = 0; i < N; i++) s += a[i] * b[i]; return s; }
template <typename T, size_t N> T last(thread const T (&a)[N]) { return a[N - 1]; }
template <typename T> struct Box { T value; };
template <typename T> T unbox(Box<T> b) { return b.value; }
template <template <typename> class C, typename T> T generic(C<T> c) { return c.value; }
template <typename T> void store(device T &x, T value) { x = value; }
template <typename T> void store(threadgroup T *p, uint i, T value) { p[i] = value; }
template <typename T> using Pair = vec<T, 2>;
template <typename T> T first(Pair<T> p) { return p.x; }
template <typename T> T later(T x);
template <typename T> T use_later(T x) { return later(x); }
template <typename T> T later(T x) { return x + T(1); }
template <typename T> auto doubled(T x) { return x + x; }
template <typename T> auto trailing(T x) -> decltype(x * 2.0f) { return x * 2.0f; }
template <typename T> typename Box<T>::missing never(T x);

kernel void uses(device float *f, device int *i, threadgroup half *h) {
  f[0] = identity(1.0f) + identity<float>(1) + convert<float>(1) + convert<float, half>(1) + sum(f, 3);
  f[1] = accumulate(1) + float(accumulate<half, half>(1)) + ::dot(float4(1), float4(2)) + unbox(Box<float>{1});
  float a[3] = {1, 2, 3};
  f[2] = last(a) + generic(Box<float>{2}) + first(float2(1)) + use_later(1.0f) + doubled(1.0f) + trailing(half(1));
  store(f[3], 1.0f);
  store(h, 0, 1.0h);
  store<int>(i[0], 1);
  f[4] = identity<float4>(f[0]).x + identity(float3x3(1))[0][0];
}
