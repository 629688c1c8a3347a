// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> int kind(T) { return 0; }
template <> int kind<float>(float) { return 1; }
template <> int kind(int) { return 2; }
template <typename T> T zero();
template <> float zero<float>() { return 0; }
template <> int zero() { return 0; }
template <int N> int number() { return N; }
template <> int number<0>() { return 100; }
template <typename T, int N> T both() { return T(N); }
template <> float both<float, 3>() { return 33; }
template <typename T> void load(device T *p) { p[0] = 0; }
template <> void load<float>(device float *p);
template <> void load<float>(device float *p) { p[0] = 1; }
constexpr int check() { return kind(1.0f) * 100 + kind(1) * 10 + kind(1u); }

kernel void uses(device float *out) {
  out[0] = float(kind(1.0f) + kind(1) + kind(1u) + zero<int>() + number<0>() + number<1>()) + zero<float>();
  out[1] = both<float, 3>() + both<float, 4>();
  load(out);
}
