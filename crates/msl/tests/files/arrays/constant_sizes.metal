// test check
#include <metal_stdlib>
using namespace metal;

enum { N = 4 };
constexpr constant int M = 8;
constant int K = 2;
template <int S> struct Sized { float data[S * 2 + 1]; };
constexpr int twice(int n) { return 2 * n; }
#define TILE 16

kernel void sizes(device float *out) {
  float a[N];
  float b[M / 2];
  const int local = 3;
  float c[local];
  constexpr int more = M + local;
  float d[more];
  float e[twice(N)];
  float f[TILE * sizeof(int)];
  float g[K];
  float h[N > 2 ? 1 : 2];
  float z[sizeof(float4) / sizeof(float)];
  static_assert(sizeof(a) == 16 && sizeof(b) == 16 && sizeof(c) == 12 && sizeof(d) == 44, "");
  static_assert(sizeof(e) == 32 && sizeof(f) == 256 && sizeof(g) == 8 && sizeof(h) == 4 && sizeof(z) == 16, "");
  static_assert(sizeof(Sized<3>) == 28, "");
  out[0] = a[0] + b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0] + z[0];
}
