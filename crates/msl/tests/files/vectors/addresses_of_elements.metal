// test check
#include <metal_stdlib>
using namespace metal;

void set(thread float &x) { x = 1; }
kernel void refused(device float4 *v, device packed_float3 *p, device float4x4 *m) {
  float4 a = v[0];
  thread float *x = &a.x;  // error: address of vector element requested
  device float *y = &v[0][1];  // error: address of vector element requested
  device float *z = &p[0][0];  // error: address of vector element requested
  device float *w = &m[0][1].y;  // error: address of vector element requested
  thread float &r = a.x;  // error: vector element
  set(a.y);  // error: vector element
  float whole = modf(1.5f, a.z);  // error: vector element
  device float4 *column = &m[0][1];
  column[0] = a;
  device float *through = (device float *)&v[1];
  through[2] = whole;
}
