// test check
#include <metal_stdlib>
using namespace metal;

template <int N>
struct Squares {
  int v[N];
  constexpr Squares() : v() {
    for (int i = 0; i < N; i++) v[i] = i * i;
  }
};
struct Plain { int a; };

constant constexpr Squares<8> squares;
constant Squares<4> others;
static_assert(squares.v[3] == 9, "");
constant Plain plain;  // error: must be initialized

kernel void k(device int *o) { o[0] = squares.v[o[1]] + others.v[o[2]]; }
