// test check
#include <metal_stdlib>
using namespace metal;

kernel void sparse_texture2d(texture2d<float> t [[texture(0)]], texture2d<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float4> c = t.sparse_sample(s, float2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sparse_gather(s, float2(1)).value();
  out[0] += t.sparse_gather(s, float2(1), int2(0), component::w).value();
  out[0] += t.sparse_gather(s, float2(1), int2(1)).value();
  out[0] += t.sparse_gather(s, float2(1), int2(1), component::w).value();
  out[0] += r.sparse_read(uint2(1)).value() + t.sparse_read(uint2(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1)).value() + t.sparse_read(ushort2(1), ushort(1)).value();
}

kernel void sparse_texture2d_array(texture2d_array<float> t [[texture(0)]], texture2d_array<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float2(1), 1u, bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sparse_gather(s, float2(1), 1u).value();
  out[0] += t.sparse_gather(s, float2(1), 1u, int2(0), component::w).value();
  out[0] += t.sparse_gather(s, float2(1), 1u, int2(1)).value();
  out[0] += t.sparse_gather(s, float2(1), 1u, int2(1), component::w).value();
  out[0] += r.sparse_read(uint2(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}

kernel void sparse_texture3d(texture3d<float> t [[texture(0)]], texture3d<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float4> c = t.sparse_sample(s, float3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), level(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), min_lod_clamp(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradient3d(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradient3d(float3(1), float3(2)), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradient3d(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradient3d(float3(1), float3(2)), min_lod_clamp(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1), min_lod_clamp(1), int3(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += r.sparse_read(uint3(1)).value() + t.sparse_read(uint3(1), uint(1)).value();
  out[0] += r.sparse_read(ushort3(1)).value() + t.sparse_read(ushort3(1), ushort(1)).value();
}

kernel void sparse_texturecube(texturecube<float> t [[texture(0)]], texturecube<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float4> c = t.sparse_sample(s, float3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sparse_gather(s, float3(1)).value();
  out[0] += t.sparse_gather(s, float3(1), component::w).value();
  out[0] += r.sparse_read(uint2(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}

kernel void sparse_texturecube_array(texturecube_array<float> t [[texture(0)]], texturecube_array<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float4> c = t.sparse_sample(s, float3(1), 1u, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sparse_gather(s, float3(1), 1u).value();
  out[0] += t.sparse_gather(s, float3(1), 1u, component::w).value();
  out[0] += r.sparse_read(uint2(1), uint(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1), ushort(1)).value();
}

kernel void sparse_depth2d(depth2d<float> t [[texture(0)]], depth2d<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float> c = t.sparse_sample(s, float2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 0.5f, bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sample_compare(s, float2(1), 0.5f);
  out[0] += t.sample_compare(s, float2(1), 0.5f, int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, bias(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, bias(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, level(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, level(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, min_lod_clamp(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)));
  out[0] += t.sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, bias(1), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 0.5f, bias(1), min_lod_clamp(1), int2(1));
  out[0] += t.sparse_gather(s, float2(1)).value();
  out[0] += t.sparse_gather_compare(s, float2(1), 0.5f).value();
  out[0] += t.sparse_gather(s, float2(1), int2(1)).value();
  out[0] += t.sparse_gather_compare(s, float2(1), 0.5f, int2(1)).value();
  out[0] += r.sparse_read(uint2(1)).value() + t.sparse_read(uint2(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1)).value() + t.sparse_read(ushort2(1), ushort(1)).value();
}

kernel void sparse_depth2d_array(depth2d_array<float> t [[texture(0)]], depth2d_array<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float2(1), 1u, bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, bias(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, level(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float2(1), 1u, 0.5f, bias(1), min_lod_clamp(1), int2(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f);
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, bias(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, bias(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, level(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, level(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, min_lod_clamp(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, bias(1), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float2(1), 1u, 0.5f, bias(1), min_lod_clamp(1), int2(1));
  out[0] += t.sparse_gather(s, float2(1), 1u).value();
  out[0] += t.sparse_gather_compare(s, float2(1), 1u, 0.5f).value();
  out[0] += t.sparse_gather(s, float2(1), 1u, int2(1)).value();
  out[0] += t.sparse_gather_compare(s, float2(1), 1u, 0.5f, int2(1)).value();
  out[0] += r.sparse_read(uint2(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}

kernel void sparse_depthcube(depthcube<float> t [[texture(0)]], depthcube<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float> c = t.sparse_sample(s, float3(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 0.5f, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sample_compare(s, float3(1), 0.5f);
  out[0] += t.sample_compare(s, float3(1), 0.5f, bias(1));
  out[0] += t.sample_compare(s, float3(1), 0.5f, level(1));
  out[0] += t.sample_compare(s, float3(1), 0.5f, min_lod_clamp(1));
  out[0] += t.sample_compare(s, float3(1), 0.5f, gradientcube(float3(1), float3(2)));
  out[0] += t.sample_compare(s, float3(1), 0.5f, gradientcube(float3(1), float3(2)), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float3(1), 0.5f, bias(1), min_lod_clamp(1));
  out[0] += t.sparse_gather(s, float3(1)).value();
  out[0] += t.sparse_gather_compare(s, float3(1), 0.5f).value();
  out[0] += r.sparse_read(uint2(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}

kernel void sparse_depthcube_array(depthcube_array<float> t [[texture(0)]], depthcube_array<float, access::read> r [[texture(1)]], sampler s, device float4 *out) {
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample(s, float3(1), 1u, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, bias(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, level(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, gradientcube(float3(1), float3(2))); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, gradientcube(float3(1), float3(2)), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  { sparse_color<float> c = t.sparse_sample_compare(s, float3(1), 1u, 0.5f, bias(1), min_lod_clamp(1)); if (c.resident()) out[0] += c.value(); }
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f);
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, bias(1));
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, level(1));
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, min_lod_clamp(1));
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, gradientcube(float3(1), float3(2)));
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, gradientcube(float3(1), float3(2)), min_lod_clamp(1));
  out[0] += t.sample_compare(s, float3(1), 1u, 0.5f, bias(1), min_lod_clamp(1));
  out[0] += t.sparse_gather(s, float3(1), 1u).value();
  out[0] += t.sparse_gather_compare(s, float3(1), 1u, 0.5f).value();
  out[0] += r.sparse_read(uint2(1), uint(1), uint(1)).value() + t.sparse_read(uint2(1), uint(1), uint(1), uint(1)).value();
  out[0] += r.sparse_read(ushort2(1), ushort(1), ushort(1)).value() + t.sparse_read(ushort2(1), ushort(1), ushort(1), ushort(1)).value();
}

kernel void sparse_texture2d_ms(texture2d_ms<float, access::read> t [[texture(0)]], device float4 *out) {
  out[0] += t.sparse_read(uint2(1), uint(1)).value();
  out[0] += t.sparse_read(ushort2(1), ushort(1)).value();
}

kernel void sparse_texture2d_ms_array(texture2d_ms_array<float, access::read> t [[texture(0)]], device float4 *out) {
  out[0] += t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}

kernel void sparse_depth2d_ms(depth2d_ms<float, access::read> t [[texture(0)]], device float4 *out) {
  out[0] += t.sparse_read(uint2(1), uint(1)).value();
  out[0] += t.sparse_read(ushort2(1), ushort(1)).value();
}

kernel void sparse_depth2d_ms_array(depth2d_ms_array<float, access::read> t [[texture(0)]], device float4 *out) {
  out[0] += t.sparse_read(uint2(1), uint(1), uint(1)).value();
  out[0] += t.sparse_read(ushort2(1), ushort(1), ushort(1)).value();
}
