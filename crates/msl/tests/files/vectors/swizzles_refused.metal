// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float4 *v, constant float4 &c, const device float4 *d) {
  float4 a = v[0];
  float2 b = a.xy;
  a.xx = b;  // error: duplicate
  float x = b.z;  // error: exceeds
  float y = a.q;  // error: q
  float2 z = a.xr;  // error: x
  float5 f;  // error: unknown type name 'float5'
  a.xyz = float2(1);  // error: float3
  a.xy = float3(1);  // error: float2
  float4 e = a.xyzwx;  // error: xyzwx
  c.x = 1;  // error: read-only
  d[0].xy = b;  // error: read-only
  float1 g;  // error: unknown type name 'float1'
  float w = x.x;  // error: not a structure or union
  a.foo = 1;  // error: foo
}
