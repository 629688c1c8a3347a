// test check
#include <metal_stdlib>
using namespace metal;

struct P { int a; float b; uchar c; };
kernel void narrowing(device float *f, device int *i, device uint *u) {
  int a{1.5f};  // error: narrow
  int b = {f[0]};  // error: narrow
  float c{i[0]};  // error: narrow
  uchar d{300};  // error: narrow
  uint e{i[0]};  // error: narrow
  int g{u[0]};  // error: narrow
  uint h{-1};  // error: narrow
  half j{f[0]};  // error: narrow
  int k[2] = {1, 2.5f};  // error: narrow
  P p = {f[0], 1, 2};  // error: narrow
  P q = {1, 2, 300};  // error: narrow
  short s{i[0]};  // error: narrow
  int l{u[0] > 1u};
  float m{1};
  float n{16777216};
  uchar o{255};
  half r{1};
  half t{1.0f};
  int w{true};
  long x{i[0]};
  float y{1.0h};
  int z = {int(f[0])};
  constexpr int big = 7;
  uchar small{big};
}
