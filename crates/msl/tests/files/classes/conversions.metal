// test check
#include <metal_stdlib>
using namespace metal;

struct Half { half h; operator float() const { return float(h); } Half(float f) : h(half(f)) {} Half() : h(0) {} };
struct Word { uint bits; template <typename T> operator T() const { return T(bits); } };
struct Index { int i; operator int() const { return i; } };
float twice(float x) { return 2 * x; }

kernel void conversions(device float *out, device int *array) {
  Half h = 1.5f;
  float f = h;
  f += h;
  out[0] = h * 2.0f + twice(h) + f;
  h = 2.0f;
  Word w = {3};
  float g = w;
  uint u = w;
  out[1] = g + float(u) + static_cast<float>(w);
  Index i = {2};
  out[2] = float(array[i]);
  switch (i) { case 2: break; default: break; }
  out[3] = float(i + 1);
}
