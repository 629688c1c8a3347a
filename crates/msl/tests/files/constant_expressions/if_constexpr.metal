// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> float to_float(T x) {
  if constexpr (is_same_v<T, float>) { return x; }
  else if constexpr (is_vector_v<T>) { return float(x.x); }
  else { return float(x); }
}
template <int N> int pick(int n) {
  if constexpr (N == 0) return n; else if constexpr (N > 3) { return vec<int, N>(n).x; }
  return -n;
}
kernel void k(device float *out, device int *i) {
  out[0] = to_float(1.0f) + to_float(1) + to_float(float2(1)) + to_float(1.0h);
  i[0] = pick<0>(1) + pick<2>(1);
  if constexpr (sizeof(int) == 4) i[1] = 1; else i[1] = 2;
}
