// test check
#include <metal_stdlib>
using namespace metal;

struct S { int a; };
kernel void refused(device float *f, device int *i, device half *h, device bfloat *b) {
  half x = b[0];  // error: bfloat
  bfloat y = h[0];  // error: half
  h[0] = h[1] + b[1];  // error: ('half' and 'bfloat')
  h[0] += b[0];  // error: bfloat
  int n = f;  // error: cannot initialize
  device float *p = 1;  // error: cannot initialize
  float z = nullptr;  // error: cannot initialize
  S s = 1;  // error: no viable conversion
  int a = S{1};  // error: no viable conversion
  float c = "text";  // error: cannot initialize
  device float *q = (device float *)1.5f;  // error: cast
  int d = (int)S{1};  // error: cast
  S e = (S)1;  // error: no matching
  int g = static_cast<int>(f);  // error: cast
  float j = reinterpret_cast<float>(i[0]);  // error: cast
  device const float *k = f;
  device float *l = static_cast<device float *>(k);  // error: cast
  device float *m = reinterpret_cast<device float *>(k);  // error: cast
  const_cast<int>(i[0]);  // error: cast
  void w;  // error: void
  float o = (void)1;  // error: void
}
