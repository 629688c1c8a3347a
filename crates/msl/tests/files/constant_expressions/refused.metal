// test check
#include <metal_stdlib>
using namespace metal;

constexpr int divide(int a, int b) { return a / b; }
constexpr int outside(int i) { int a[2] = {1, 2}; return a[i]; }
constexpr int forever() { while (true) {} return 1; }
constexpr int overflow(int n) { return n + 1; }
constexpr int shift(int n) { return 1 << n; }
int runtime(int n) { return n; }
constexpr int uninitialized() { int x; return x; }
constant float folded = 1;
static_assert(1 == 2, "one is not two");  // error: one is not two
static_assert(false);  // error: static assertion failed
static_assert(sizeof(float3) == 12, "packed");  // error: packed
static_assert(divide(1, 0) == 0, "");  // error: constant expression
static_assert(outside(2) == 0, "");  // error: constant expression
static_assert(forever() == 1, "");  // error: constant expression
static_assert(overflow(2147483647) < 0, "");  // error: constant expression
static_assert(shift(40) == 0, "");  // error: constant expression
static_assert(runtime(1) == 1, "");  // error: constant expression
static_assert(uninitialized() == 1, "");  // error: constant expression
static_assert(1.0f, "converts to bool");
constexpr constant int a = runtime(1);  // error: constant expression
constexpr constant int b;  // error: initial

kernel void k(device int *out, uint i [[thread_position_in_grid]]) {
  constexpr int c = out[0];  // error: constant expression
  constexpr uint d = i;  // error: constant expression
  const int e = out[0];
  static_assert(e == 1, "");  // error: constant expression
  int f[e];  // error: array size is not a constant expression
  switch (out[0]) { case e: break; }  // error: constant expression
  constexpr int g;  // error: initial
  1 / 0;
}
