// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device uint *words) {
  { float4 v = unpack_snorm4x8_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half4 v = unpack_snorm4x8_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float4 v = unpack_unorm4x8_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half4 v = unpack_unorm4x8_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float4 v = unpack_unorm4x8_srgb_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half4 v = unpack_unorm4x8_srgb_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float2 v = unpack_snorm2x16_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half2 v = unpack_snorm2x16_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float2 v = unpack_unorm2x16_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half2 v = unpack_unorm2x16_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float4 v = unpack_unorm10a2_to_float(uint(words[0])); words[1] += uint(v.x); }
  { half4 v = unpack_unorm10a2_to_half(uint(words[0])); words[1] += uint(v.x); }
  { float3 v = unpack_unorm565_to_float(ushort(words[0])); words[1] += uint(v.x); }
  { half3 v = unpack_unorm565_to_half(ushort(words[0])); words[1] += uint(v.x); }
  words[2] += pack_float_to_snorm4x8(float4(1));
  words[2] += pack_half_to_snorm4x8(half4(1));
  words[2] += pack_float_to_unorm4x8(float4(1));
  words[2] += pack_half_to_unorm4x8(half4(1));
  words[2] += pack_float_to_srgb_unorm4x8(float4(1));
  words[2] += pack_half_to_srgb_unorm4x8(half4(1));
  words[2] += pack_float_to_snorm2x16(float2(1));
  words[2] += pack_half_to_snorm2x16(half2(1));
  words[2] += pack_float_to_unorm2x16(float2(1));
  words[2] += pack_half_to_unorm2x16(half2(1));
  words[2] += pack_float_to_unorm10a2(float4(1));
  words[2] += pack_half_to_unorm10a2(half4(1));
  words[2] += pack_float_to_unorm565(float3(1));
  words[2] += pack_half_to_unorm565(half3(1));
}
