// test check
#include <metal_stdlib>
using namespace metal;

template <typename F> void times(int n, F f) { for (int i = 0; i < n; i++) f(i); }
template <typename T> T twice(T x) { auto f = [x] { return x + x; }; return f(); }  // error: lambda expressions are not supported in Metal

kernel void k(device float *out) {
  auto f = [&](float x) { return x + undeclared; };  // error: lambda expressions are not supported in Metal
  times(4, [&](int i) { out[i] = f(1); });  // error: lambda expressions are not supported in Metal
  out[0] = twice(1.0f) + f(2);
}
