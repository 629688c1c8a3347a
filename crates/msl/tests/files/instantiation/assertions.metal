// test check
#include <metal_stdlib>
using namespace metal;

// Each instance has its own failure.
template <int N> struct Tile {
  static_assert(N % 8 == 0, "N must be a multiple of 8");  // error: static assertion failed: N must be a multiple of 8 // error: static assertion failed
  int n;
};
template <int N> int load() {
  static_assert(N > 3, "N is too small");  // error: static assertion failed: N is too small // error: static assertion failed
  return N;
}

kernel void k(device int *x) {
  Tile<4> a; Tile<12> b; Tile<16> c;
  *x = load<1>() + load<2>() + load<4>() + sizeof(a) + sizeof(b) + sizeof(c);
}
