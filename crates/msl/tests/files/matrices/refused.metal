// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float4x4 *m, device float3x3 *n, device float4 *v, device half4x4 *h) {
  float4x4 a = n[0];  // error: float3x3
  m[0] = m[1] + n[0];  // error: ('float4x4' and 'float3x3')
  v[0] = n[0] * v[1];  // error: ('float3x3' and 'float4')
  m[0] = m[1] / m[2];  // error: invalid operands to binary expression
  m[0] = m[1] * h[0];  // error: ('float4x4' and 'half4x4')
  m[0] = h[0];  // error: half4x4
  float2x2 b = float2x2(1, 2, 3);  // error: float2x2
  float x = m[0].x;  // error: not a structure or union
  int2x2 d;  // error: unknown type name 'int2x2'
  float4x5 e;  // error: unknown type name 'float4x5'
  matrix<int, 2, 2> f;  // error: matrix
  matrix<float, 5, 2> g;  // error: matrix
  m[0][0] = float3(1);  // error: float3
  float y = determinant(float2x3());  // error: determinant
  m[0] = m[1] + 1.0f;  // error: invalid operands to binary expression
}
