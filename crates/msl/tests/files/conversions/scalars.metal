// test check
#include <metal_stdlib>
using namespace metal;

kernel void implicit(device float *f, device int *i, device uchar *c, device half *h, device bool *b, device ulong *w, device bfloat *bf) {
  f[0] = i[0];
  i[0] = f[0];
  c[0] = i[0];
  h[0] = f[0];
  f[0] = h[0];
  b[0] = i[0];
  b[0] = f[0];
  i[0] = b[0];
  w[0] = i[0];
  i[0] = w[0];
  f[0] = w[0];
  bf[0] = bfloat(f[0]);
  f[0] = bf[0];
  bf[0] = i[0];
  i[0] = 'a';
  i[0] = true;
  f[0] = 1;
  h[0] = 1.5;
  h[0] = 1;
  c[0] = 300;
  int x = -1;
  uint y = x;
  f[1] = (float)i[0] + float(i[1]) + static_cast<float>(i[2]) + float{1.5f};
  i[1] = (int)1.5f + int(2.5h) + (uchar)300 + int(bf[0]);
  bf[1] = bfloat(h[0]);
  h[1] = half(bf[0]);
  h[2] = h[0] + h[1] * 2;
  f[2] = h[0] + f[0];
  bf[2] = bf[0] + bf[1];
  f[3] = bf[0] * 2.0f;
  (void)y;
}
kernel void explicit_pointers(device float *f) {
  ulong a = (ulong)f;
  ulong b = reinterpret_cast<ulong>(f);
  bool c = f;
  bool d = bool(f) && f != nullptr;
  device float *n = nullptr;
  device float *z = 0;
  f[0] = float(a + b) + float(c) + float(d) + float(n == z);
}
static_assert(int(-1.9f) == -1 && uint(-1) == 0xffffffffu && char(300) == 44 && uchar(-1) == 255, "");
static_assert(short(70000) == 4464 && bool(0.5f) && !bool(0) && int('a') == 97 && long(1u) == 1, "");
static_assert(float(1) / 2 == 0.5f && 1 / 2 == 0 && -7 / 2 == -3 && -7 % 2 == -1, "");
