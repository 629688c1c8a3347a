// test check
#include <metal_stdlib>
using namespace metal;

kernel void swizzles(device float4 *v, device float *out) {
  float4 a = v[0];
  float2 xy = a.xy, yx = a.yx, xx = a.xx, rg = a.rg, zw = a.zw;
  float3 xyz = a.xyz, bgr = a.bgr, www = a.www;
  float4 wzyx = a.wzyx, rgba = a.rgba, twice = a.xyxy;
  a.x = 1;
  a.xy = float2(1, 2);
  a.zx = a.xz;
  a.rgb = xyz;
  a.wzyx = a;
  a.yz += 1.0f;
  a.xw *= xy;
  a.x++;
  a.xyz = 1;
  a[0] = 1;
  a[3] += a[1];
  int i = 2;
  a[i] = a[i + 1];
  v[1].xy = a.zw;
  v[2].x = v[1].y;
  v[3].zw.x = 1;
  out[0] = a.xyz.y + a.xy.yx.x + yx.x + xx.x + rg.x + zw.x + bgr.x + www.x + wzyx.x + rgba.x + twice.x;
  out[1] = float4(1, 2, 3, 4).wz.x + (a + a).y + v[0].xyz[1] + (a.xy + a.zw).x;
  float3 b = a.xyz * 2 + a.www;
  out[2] = dot(b.xy, b.yz);
  half4 h = half4(a).wzyx;
  out[3] = float(h.r + h.g + h.b + h.a);
  bool4 c = a > 0;
  c.xy = !c.zw;
  out[4] = float(c.x);
  thread float4 &r = a;
  r.x = 3;
  device float4 *p = v;
  p->xy = p->yx;
  p->x += 1;
}
