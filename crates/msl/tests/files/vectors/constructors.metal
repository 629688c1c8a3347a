// test check
#include <metal_stdlib>
using namespace metal;

kernel void constructors(device float *out) {
  float2 a = float2(1, 2);
  float3 b = float3(a, 3);
  float4 c = float4(a, a), d = float4(b, 4), e = float4(1, b), f = float4(1, a, 2), g = float4(1, 2, a);
  float4 h = float4(a, 1, 2), i = float4(5), j(1, 2, 3, 4), k{1, 2, 3, 4}, l = {1, 2, 3, 4}, m = 1, n = {}, o = float4();
  float3 p = float3(1, a), q(0), r = {1, 2, 3};
  float4 s = float4(int4(1)), t = float4(half4(1)), u(d), v = float4{a, a};
  int4 w = int4(c), x = int4(1.5f), y = (int4)c, z = static_cast<int4>(c);
  bool4 ba = bool4(true, false, true, false), bb = bool4(w), bc = c > d;
  half2 ha = half2(a), hb = half2(1.0f, 2), hc = half2(1.0h);
  uchar4 ua = uchar4(1, 2, 3, 4), ub = uchar4(300);
  long2 la = long2(1, 2);
  ulong3 lb = ulong3(1);
  short3 sa = short3(1, 2, 3);
  char2 ca = char2('a', 'b');
  ushort4 usa = ushort4(w);
  bfloat4 bfa = bfloat4(c);
  vec<float, 4> generic = vec<float, 4>(1, 2, 3, 4);
  vec<int, 3> ints(1);
  metal::float4 qualified = metal::float4(1);
  float4 array[2] = {{1, 2, 3, 4}, float4(1)};
  out[0] = a.x + b.x + c.x + d.x + e.x + f.x + g.x + h.x + i.x + j.x + k.x + l.x + m.x + n.x + o.x + p.x + q.x + r.x;
  out[1] = s.x + t.x + u.x + v.x + float(w.x + x.x + y.x + z.x) + float(ba.x) + float(bb.x) + float(bc.x);
  out[2] = float(ha.x + hb.x + hc.x) + float(ua.x + ub.y) + float(la.x) + float(lb.x) + float(sa.x) + float(ca.x);
  out[3] = float(usa.x) + float(bfa.x) + generic.x + float(ints.x) + qualified.x + array[0].x;
}
constant float4 table[2] = {float4(1), {1, 2, 3, 4}};
constexpr constant int2 pair = int2(1, 2);
static_assert(pair.x == 1 && pair[1] == 2, "");
static_assert(sizeof(float3) == 16 && alignof(float3) == 16 && sizeof(half3) == 8 && sizeof(char3) == 4, "");
static_assert(sizeof(float2) == 8 && sizeof(uchar2) == 2 && sizeof(long4) == 32 && sizeof(bool3) == 4, "");
static_assert(is_same_v<vec<float, 4>, float4> && is_same_v<vec<uint, 2>, uint2>, "");
