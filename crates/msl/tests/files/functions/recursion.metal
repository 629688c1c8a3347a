// test check
// options: --std metal2.4
#include <metal_stdlib>
using namespace metal;

int direct(int n) { return n == 0 ? 0 : direct(n - 1); }
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
template <typename T> T again(T x) { return x > T(0) ? again(x - T(1)) : x; }
struct Tree { int depth(int n) const { return n ? depth(n / 2) + 1 : 0; } };
struct Functor { int operator()(int n) const { return n ? (*this)(n - 1) : 0; } };
constexpr int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
auto deduced(int n) { return n ? deduced(n - 1) : 0; }  // error: function 'deduced' with deduced return type cannot be used before it is defined

kernel void k(device int *out) {
  out[0] = direct(3) + even(2) + again(1) + Tree().depth(4) + Functor()(2) + fact(out[1]);
}
