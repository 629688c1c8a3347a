// test check
// options: --std metal2.3
#include <metal_stdlib>
using namespace metal;

int direct(int n) { return n == 0 ? 0 : direct(n - 1); }  // error: recursive call to 'direct': recursion is not supported before Metal 2.4
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }  // error: recursive call
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
template <typename T> T again(T x) { return x > T(0) ? again(x - T(1)) : x; }  // error: recursive call
template <int N> int countdown() { return N + countdown<N - 1>(); }
template <> int countdown<0>() { return 0; }
struct Tree { int depth(int n) const { return n ? depth(n / 2) + 1 : 0; } };  // error: recursive call
struct Functor { int operator()(int n) const { return n ? (*this)(n - 1) : 0; } };  // error: recursive call

kernel void k(device int *out) {
  out[0] = direct(3) + even(2) + again(1) + countdown<8>() + Tree().depth(4) + Functor()(2);
}
