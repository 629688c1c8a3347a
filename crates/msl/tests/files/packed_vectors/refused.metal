// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device packed_float3 *p, device packed_half3 *h) {
  float4 a = p[0];  // error: packed_float3
  half3 b = p[0];  // error: packed_float3
  p[0] = float2(1);  // error: float2
  p[0] = h[0];  // error: packed_half3
  p[0].w = 1;  // error: exceeds
  packed_bool2 c;  // error: unknown type name 'packed_bool2'
  packed_float5 d;  // error: unknown type name 'packed_float5'
}
