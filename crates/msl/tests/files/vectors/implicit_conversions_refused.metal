// test check
#include <metal_stdlib>
using namespace metal;

void takes(float4 v);
kernel void refused(device float4 *f, device int4 *i, device half4 *h, device uint4 *u, device float *s) {
  float4 a = i[0];  // error: int4
  int4 b = f[0];  // error: float4
  float4 c = h[0];  // error: half4
  half4 d = f[0];  // error: float4
  uint4 e = i[0];  // error: int4
  float3 g = f[0];  // error: float4
  float4 j = float3(1);  // error: float3
  f[0] = f[1] + i[0];  // error: ('float4' and 'int4')
  f[0] = f[1] * h[0];  // error: ('float4' and 'half4')
  f[0] = f[1] + float3(1);  // error: ('float4' and 'float3')
  i[0] = i[1] * 1.5f;  // error: int4
  h[0] = h[1] * 2.0f;
  f[0] += i[0];  // error: int4
  i[0] = i[1] + u[0];  // error: ('int4' and 'uint4')
  s[0] = f[0];  // error: float4
  float k = f[0].xy;  // error: float2
  takes(h[0]);  // error: no matching function for call to 'takes'
  takes(1);
  bool l = f[0];  // error: float4
  if (f[0] == f[1]) {}  // error: bool4
  f[0] = f[0] % f[1];  // error: invalid operands to binary expression ('float4' and 'float4')
  f[0] = f[0] << 1;  // error: invalid operands to binary expression
  i[0] = ~f[0];  // error: invalid argument type
  float4 m = float4(1, 2);  // error: float4
  float4 n = float4(1, 2, 3, 4, 5);  // error: float4
  float2 o = float2(f[0]);  // error: float2
  float4 p = (f[0] < f[1]) ? f[0] : f[1];  // error: bool
  float4 q = float4(float2(1));  // error: float
}
