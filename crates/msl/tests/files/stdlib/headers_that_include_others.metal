// test check
// The shaders of SDL include little, and use what that includes.
#include <metal_texture>
#include <metal_matrix>
using namespace metal;

fragment float4 f(float4 at [[position]], texture2d<float> t [[texture(0)]]) {
  float4 c = t.read(uint2(at.xy));
  c.x = pow(abs(c.x + 0.055) / 1.055, 2.4);
  return float4(dot(c.xyz, float3(1)), clamp(max(c.y, c.z), 0.0, 1.0), transpose(float2x2(1))[0]);
}
kernel void k(device uint *out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  out[0] = simd_sum(lane);  // error: use of undeclared identifier 'simd_sum'
}
