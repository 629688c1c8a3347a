// test check
#include <metal_stdlib>
using namespace metal;

typedef int T;
template <int N> struct S { static constexpr constant int v = N; };
template <typename A, typename B> struct P { typedef A type; };
int f(int x) { return x; }
kernel void k(device int *out) {
  int a = 1, b = 2, c = 3;
  T (x);
  T (y) = 1;
  T z(int(2));
  x = (T)a + (a) + b - (c);
  out[0] = a < b && b > c;
  out[1] = S<1>::v + S<(2 > 1)>::v + S<sizeof(int)>::v;
  P<int, P<int, float>>::type n = a;
  out[2] = f(a) * b + (f)(c) + n + x + y;
  a * b;
  T *const device *w = nullptr;  // error: pointer type must have explicit address space qualifier
  bool d = a<b, e = b> c;
  out[3] = int(d) + int(e) + -(-a) + - -b + !!c;
  S<1> s, t;
  (void)s; (void)t;
}
