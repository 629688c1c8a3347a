// test check
#include <metal_stdlib>
using namespace metal;

constant float3x3 identity = float3x3(1);
constant float2x2 listed = {{1, 2}, {3, 4}};
constant float2x2 columns_in_braces = float2x2({1, 2}, {3, 4});
static_assert(sizeof(float4x4) == 64 && sizeof(float3x3) == 48 && sizeof(half2x3) == 16 && sizeof(float4x2) == 32, "");
kernel void uses(device float4x4 *m, device float4 *v, device float *out, constant float3x3 &n, device half2x2 *h) {
  float4x4 a = float4x4(1), b = m[0], c(v[0], v[1], v[2], v[3]), d(2.0f);
  float2x2 e = float2x2(1, 2, 3, 4), f = float2x2(float2(1, 2), float2(3, 4)), g{{1, 2}, {3, 4}}, g2({1, 2}, {3, 4});
  float2x3 i = float2x3(float3(1), float3(2));
  float3x2 j = transpose(i);
  m[1] = a * b + c - d;
  m[1] = a * 2.0f;
  m[1] = 2.0f * a;
  m[1] *= 3.0f;
  m[1] *= b;
  m[1] += a;
  m[1] -= b;
  m[2] = -a;
  v[0] = a * v[1];
  v[0] = v[1] * a;
  float2x2 k = j * i;
  float3x3 l = i * j;
  float3 o = i * float2(1);
  float2 p = float3(1) * i;
  a[0] = v[0];
  a[1][2] = 3;
  a[2].xy = float2(1);
  a[3] += v[1];
  out[0] = a[0][1] + b[1].x + determinant(a) + determinant(e) + float(determinant(h[0])) + k[0][0] + l[0][0] + o.x + p.x;
  float4x4 t = transpose(a);
  float3x3 rotation = float3x3(n[0], n[1], n[2]);
  half4x4 half_matrix = half4x4(half4(1), half4(2), half4(3), half4(4));
  matrix<float, 4, 4> generic = t;
  matrix<half, 2, 3> other = half2x3(half3(1), half3(2));
  out[1] = generic[0].x + float(other[1].z) + rotation[0].x + float(half_matrix[0][0]) + f[0][0] + g[0][0] + listed[1][0];
  for (int column = 0; column < 4; column++) for (int row = 0; row < 4; row++) out[2] += a[column][row];
  float3x3 diagonal = float3x3(1.0f);
  v[2].xyz = diagonal * v[3].xyz * identity;
  float4x4 converted = float4x4(half_matrix);
  m[3] = converted;
}
template <typename T, int C, int R> T trace(matrix<T, C, R> m) { T s = 0; for (int i = 0; i < C && i < R; i++) s += m[i][i]; return s; }
kernel void generic(device float *out) { out[0] = trace(float3x3(1)) + float(trace(half2x3(half3(1), half3(2)))); }
