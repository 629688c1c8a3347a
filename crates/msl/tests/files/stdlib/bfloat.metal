// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device bfloat *b, device float *f, device bfloat4 *v) {
  f[0] = exp(b[0]) + sqrt(float(b[1])) + max(float(b[0]), f[1]) + fabs(b[0]) + fast::exp(b[0]);
  b[0] = b[1] + b[2] * b[3];
  b[0] = bfloat(f[0]) + 1;
  b[0] = 1.0bf + bfloat(2);
  v[0] = v[1] * b[0] + bfloat4(1, 2, 3, 4);
  v[0].xy = v[1].zw;
  float4 wide = float4(v[0]);
  f[1] = wide.x + float(v[1].x) + (b[0] < b[1] ? 1.0f : 0.0f);
}
