// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> float bad(T x) {
  if constexpr (is_same_v<T, float>) { return x; } else { return x.y; }  // error: y
}
template <bool B> void statement(device int *p) {
  if constexpr (B) { p[0] = 1; } else { p.x = 2; }  // error: did you mean to use '->'?
}
kernel void k(device float *out, device int *i) {
  out[0] = bad(1.0f);
  out[1] = bad(float2x2(1));
  statement<false>(i);
}
