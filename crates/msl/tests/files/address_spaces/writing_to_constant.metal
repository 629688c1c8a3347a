// test check
#include <metal_stdlib>
using namespace metal;

constant float table[2] = {1, 2};
struct Params { float a; float v[2]; };

kernel void through_pointers(constant float *c, constant Params &p, device float *out) {
  c[0] = 1;  // error: read-only
  *c += 1;  // error: read-only
  c[1]++;  // error: read-only
  p.a = 1;  // error: read-only
  p.v[0] = 1;  // error: read-only
  table[0] = 3;  // error: read-only
  (&p)->a = 2;  // error: read-only
  c++;
  out[0] = *c;
}

kernel void through_const(const device float *d, device const Params *p, threadgroup const int *t) {
  d[0] = 1;  // error: read-only
  p->a = 1;  // error: read-only
  p->v[0] -= 1;  // error: read-only
  --t[0];  // error: read-only
  d = d + 1;
}

kernel void const_locals(device float *out) {
  const int n = 1;
  n = 2;  // error: cannot assign to variable 'n' with const-qualified type
  n++;  // error: cannot assign to variable 'n' with const-qualified type
  constexpr float f = 1;
  f = 2;  // error: cannot assign to variable 'f' with const-qualified type
  device float *const fixed = out;
  fixed = out + 1;  // error: cannot assign to variable 'fixed' with const-qualified type
  fixed[0] = 1;
  const float4 v = 1;
  v.x = 2;  // error: read-only
  const float a[2] = {1, 2};
  a[0] = 2;  // error: read-only
  const thread float &r = out[0];  // error: cannot
  const device float &q = out[0];
  q = 1;  // error: read-only
}

void parameters(const int n, const thread int &r, const Params p) {
  n = 1;  // error: cannot assign to variable 'n' with const-qualified type
  r = 1;  // error: read-only
  p.a = 1;  // error: read-only
}

kernel void dropping_const(const device float *d) {
  device float *p = d;  // error: cannot initialize
  device float &r = d[0];  // error: reference of type 'device float &' cannot bind
  device float *q = (device float *)d;
  q[0] = 1;
  device float *s = const_cast<device float *>(d);
  s[0] = 1;
}
