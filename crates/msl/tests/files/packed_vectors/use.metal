// test check
#include <metal_stdlib>
using namespace metal;

struct Vertex { packed_float3 position; packed_half2 uv; packed_uchar4 color; };
static_assert(sizeof(packed_float3) == 12 && alignof(packed_float3) == 4 && sizeof(packed_half3) == 6, "");
static_assert(sizeof(Vertex) == 20 && sizeof(packed_char2) == 2 && sizeof(packed_long3) == 24, "");
kernel void uses(device packed_float3 *p, device float3 *f, device Vertex *v, device packed_int4 *i, device packed_half4 *h) {
  f[0] = p[0];
  p[0] = f[0];
  p[1] = float3(1, 2, 3);
  float3 a = float3(p[0]) + p[1] * 2.0f;
  p[2] = p[0] + p[1];
  p[3] = p[0] * 2.0f;
  p[0][1] = 3;
  p[0].x = p[1].y;
  float x = p[0].z + p[1][2];
  p[0] += a;
  packed_float3 local = {1, 2, 3};
  packed_float3 made = packed_float3(1, 2, 3);
  packed_float3 splat = packed_float3(x);
  v->position = local + made;
  v->uv = half2(1);
  v->color = uchar4(1, 2, 3, 4);
  float2 xy = local.xy;
  f[1] = float3(v->position) + float3(xy, splat.x);
  i[0] = int4(1);
  int4 j = i[0];
  h[0] = half4(float4(j));
  f[2] = normalize(float3(local));
  packed_vec<float, 3> generic = p[0];
  f[3] = generic;
}
