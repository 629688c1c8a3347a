// test check
#include <metal_stdlib>
using namespace metal;

kernel void texture1d_methods(texture1d<float, access::sample> sample_texture [[texture(0)]], texture1d<float, access::read> read_texture [[texture(1)]], texture1d<float, access::write> write_texture [[texture(2)]], texture1d<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, 1.0f);
  out[0] += read_texture.read(1u);
  out[0] += read_texture.read(1u, 1u);
  out[0] += read_texture.read(ushort(1));
  out[0] += read_texture.read(ushort(1), ushort(1));
  write_texture.write(float4(1), 1u);
  write_texture.write(float4(1), 1u, 1u);
  write_texture.write(float4(1), ushort(1));
  write_texture.write(float4(1), ushort(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texture1d_array_methods(texture1d_array<float, access::sample> sample_texture [[texture(0)]], texture1d_array<float, access::read> read_texture [[texture(1)]], texture1d_array<float, access::write> write_texture [[texture(2)]], texture1d_array<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, 1.0f, 1u);
  out[0] += read_texture.read(1u, 1u);
  out[0] += read_texture.read(1u, 1u, 1u);
  out[0] += read_texture.read(ushort(1), ushort(1));
  out[0] += read_texture.read(ushort(1), ushort(1), ushort(1));
  write_texture.write(float4(1), 1u, 1u);
  write_texture.write(float4(1), 1u, 1u, 1u);
  write_texture.write(float4(1), ushort(1), ushort(1));
  write_texture.write(float4(1), ushort(1), ushort(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_array_size());
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texture2d_methods(texture2d<float, access::sample> sample_texture [[texture(0)]], texture2d<float, access::read> read_texture [[texture(1)]], texture2d<float, access::write> write_texture [[texture(2)]], texture2d<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, float2(1));
  out[0] += sample_texture.sample(s, float2(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), bias(1));
  out[0] += sample_texture.sample(s, float2(1), bias(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), level(1));
  out[0] += sample_texture.sample(s, float2(1), level(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), min_lod_clamp(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)));
  out[0] += sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), int2(1));
  out[0] += sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), bias(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), bias(1), min_lod_clamp(1), int2(1));
  out[0] += sample_texture.gather(s, float2(1));
  out[0] += sample_texture.gather(s, float2(1), int2(1), component::y);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float2(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float2(1)));
  out[0] += read_texture.read(uint2(1));
  out[0] += read_texture.read(uint2(1), 1u);
  out[0] += read_texture.read(ushort2(1));
  out[0] += read_texture.read(ushort2(1), ushort(1));
  write_texture.write(float4(1), uint2(1));
  write_texture.write(float4(1), uint2(1), 1u);
  write_texture.write(float4(1), ushort2(1));
  write_texture.write(float4(1), ushort2(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texture2d_array_methods(texture2d_array<float, access::sample> sample_texture [[texture(0)]], texture2d_array<float, access::read> read_texture [[texture(1)]], texture2d_array<float, access::write> write_texture [[texture(2)]], texture2d_array<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, float2(1), 1u);
  out[0] += sample_texture.sample(s, float2(1), 1u, int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, bias(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, bias(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, level(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, level(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, min_lod_clamp(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)));
  out[0] += sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, bias(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float2(1), 1u, bias(1), min_lod_clamp(1), int2(1));
  out[0] += sample_texture.gather(s, float2(1), 1u);
  out[0] += sample_texture.gather(s, float2(1), 1u, int2(1), component::y);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float2(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float2(1)));
  out[0] += read_texture.read(uint2(1), 1u);
  out[0] += read_texture.read(uint2(1), 1u, 1u);
  out[0] += read_texture.read(ushort2(1), ushort(1));
  out[0] += read_texture.read(ushort2(1), ushort(1), ushort(1));
  write_texture.write(float4(1), uint2(1), 1u);
  write_texture.write(float4(1), uint2(1), 1u, 1u);
  write_texture.write(float4(1), ushort2(1), ushort(1));
  write_texture.write(float4(1), ushort2(1), ushort(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_array_size());
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texture3d_methods(texture3d<float, access::sample> sample_texture [[texture(0)]], texture3d<float, access::read> read_texture [[texture(1)]], texture3d<float, access::write> write_texture [[texture(2)]], texture3d<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, float3(1));
  out[0] += sample_texture.sample(s, float3(1), int3(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1), int3(1));
  out[0] += sample_texture.sample(s, float3(1), level(1));
  out[0] += sample_texture.sample(s, float3(1), level(1), int3(1));
  out[0] += sample_texture.sample(s, float3(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), min_lod_clamp(1), int3(1));
  out[0] += sample_texture.sample(s, float3(1), gradient3d(float3(1), float3(2)));
  out[0] += sample_texture.sample(s, float3(1), gradient3d(float3(1), float3(2)), int3(1));
  out[0] += sample_texture.sample(s, float3(1), gradient3d(float3(1), float3(2)), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), gradient3d(float3(1), float3(2)), min_lod_clamp(1), int3(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1), min_lod_clamp(1), int3(1));
  out[0] += float(sample_texture.calculate_clamped_lod(s, float3(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float3(1)));
  out[0] += read_texture.read(uint3(1));
  out[0] += read_texture.read(uint3(1), 1u);
  out[0] += read_texture.read(ushort3(1));
  out[0] += read_texture.read(ushort3(1), ushort(1));
  write_texture.write(float4(1), uint3(1));
  write_texture.write(float4(1), uint3(1), 1u);
  write_texture.write(float4(1), ushort3(1));
  write_texture.write(float4(1), ushort3(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_depth());
  out[0] += float(sample_texture.get_depth(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texturecube_methods(texturecube<float, access::sample> sample_texture [[texture(0)]], texturecube<float, access::read> read_texture [[texture(1)]], texturecube<float, access::write> write_texture [[texture(2)]], texturecube<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, float3(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1));
  out[0] += sample_texture.sample(s, float3(1), level(1));
  out[0] += sample_texture.sample(s, float3(1), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), gradientcube(float3(1), float3(2)));
  out[0] += sample_texture.sample(s, float3(1), gradientcube(float3(1), float3(2)), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), bias(1), min_lod_clamp(1));
  out[0] += sample_texture.gather(s, float3(1));
  out[0] += sample_texture.gather(s, float3(1), component::y);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float3(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float3(1)));
  out[0] += read_texture.read(uint2(1), 1u);
  out[0] += read_texture.read(uint2(1), 1u, 1u);
  out[0] += read_texture.read(ushort2(1), ushort(1));
  out[0] += read_texture.read(ushort2(1), ushort(1), ushort(1));
  write_texture.write(float4(1), uint2(1), 1u);
  write_texture.write(float4(1), uint2(1), 1u, 1u);
  write_texture.write(float4(1), ushort2(1), ushort(1));
  write_texture.write(float4(1), ushort2(1), ushort(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texturecube_array_methods(texturecube_array<float, access::sample> sample_texture [[texture(0)]], texturecube_array<float, access::read> read_texture [[texture(1)]], texturecube_array<float, access::write> write_texture [[texture(2)]], texturecube_array<float, access::read_write> read_write_texture [[texture(3)]],
    sampler s, device float4 *out) {
  out[0] += sample_texture.sample(s, float3(1), 1u);
  out[0] += sample_texture.sample(s, float3(1), 1u, bias(1));
  out[0] += sample_texture.sample(s, float3(1), 1u, level(1));
  out[0] += sample_texture.sample(s, float3(1), 1u, min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), 1u, gradientcube(float3(1), float3(2)));
  out[0] += sample_texture.sample(s, float3(1), 1u, gradientcube(float3(1), float3(2)), min_lod_clamp(1));
  out[0] += sample_texture.sample(s, float3(1), 1u, bias(1), min_lod_clamp(1));
  out[0] += sample_texture.gather(s, float3(1), 1u);
  out[0] += sample_texture.gather(s, float3(1), 1u, component::y);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float3(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float3(1)));
  out[0] += read_texture.read(uint2(1), 1u, 1u);
  out[0] += read_texture.read(uint2(1), 1u, 1u, 1u);
  out[0] += read_texture.read(ushort2(1), ushort(1), ushort(1));
  out[0] += read_texture.read(ushort2(1), ushort(1), ushort(1), ushort(1));
  write_texture.write(float4(1), uint2(1), 1u, 1u);
  write_texture.write(float4(1), uint2(1), 1u, 1u, 1u);
  write_texture.write(float4(1), ushort2(1), ushort(1), ushort(1));
  write_texture.write(float4(1), ushort2(1), ushort(1), ushort(1), ushort(1));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_array_size());
  out[0] += float(sample_texture.get_num_mip_levels());
  read_write_texture.fence();
}

kernel void texture2d_ms_methods(texture2d_ms<float, access::read> read_texture [[texture(0)]],
    sampler s, device float4 *out) {
  out[0] += read_texture.read(uint2(1), 1u);
  out[0] += read_texture.read(ushort2(1), ushort(1));
  out[0] += float(read_texture.get_width());
  out[0] += float(read_texture.get_height());
  out[0] += float(read_texture.get_num_samples());
}

kernel void texture2d_ms_array_methods(texture2d_ms_array<float, access::read> read_texture [[texture(0)]],
    sampler s, device float4 *out) {
  out[0] += read_texture.read(uint2(1), 1u, 1u);
  out[0] += read_texture.read(ushort2(1), ushort(1), ushort(1));
  out[0] += float(read_texture.get_width());
  out[0] += float(read_texture.get_height());
  out[0] += float(read_texture.get_array_size());
  out[0] += float(read_texture.get_num_samples());
}

kernel void depth2d_methods(depth2d<float, access::sample> sample_texture [[texture(0)]], depth2d<float, access::read> read_texture [[texture(1)]],
    sampler s, device float4 *out) {
  out[0] += float(sample_texture.sample(s, float2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), bias(1)));
  out[0] += float(sample_texture.sample(s, float2(1), bias(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), level(1)));
  out[0] += float(sample_texture.sample(s, float2(1), level(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2))));
  out[0] += float(sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), bias(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), bias(1), min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1.0f));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1.0f, int2(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1.0f, level(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1.0f, level(1), int2(1)));
  out[0] += sample_texture.gather(s, float2(1));
  out[0] += sample_texture.gather(s, float2(1), int2(1));
  out[0] += sample_texture.gather_compare(s, float2(1), 1.0f);
  out[0] += sample_texture.gather_compare(s, float2(1), 1.0f, int2(1));
  out[0] += float(sample_texture.calculate_clamped_lod(s, float2(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float2(1)));
  out[0] += float(read_texture.read(uint2(1)));
  out[0] += float(read_texture.read(uint2(1), 1u));
  out[0] += float(read_texture.read(ushort2(1)));
  out[0] += float(read_texture.read(ushort2(1), ushort(1)));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
}

kernel void depth2d_array_methods(depth2d_array<float, access::sample> sample_texture [[texture(0)]], depth2d_array<float, access::read> read_texture [[texture(1)]],
    sampler s, device float4 *out) {
  out[0] += float(sample_texture.sample(s, float2(1), 1u));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, bias(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, bias(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, level(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, level(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2))));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, gradient2d(float2(1), float2(2)), min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, bias(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float2(1), 1u, bias(1), min_lod_clamp(1), int2(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1u, 1.0f));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1u, 1.0f, int2(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1u, 1.0f, level(1)));
  out[0] += float(sample_texture.sample_compare(s, float2(1), 1u, 1.0f, level(1), int2(1)));
  out[0] += sample_texture.gather(s, float2(1), 1u);
  out[0] += sample_texture.gather(s, float2(1), 1u, int2(1));
  out[0] += sample_texture.gather_compare(s, float2(1), 1u, 1.0f);
  out[0] += sample_texture.gather_compare(s, float2(1), 1u, 1.0f, int2(1));
  out[0] += float(sample_texture.calculate_clamped_lod(s, float2(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float2(1)));
  out[0] += float(read_texture.read(uint2(1), 1u));
  out[0] += float(read_texture.read(uint2(1), 1u, 1u));
  out[0] += float(read_texture.read(ushort2(1), ushort(1)));
  out[0] += float(read_texture.read(ushort2(1), ushort(1), ushort(1)));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_array_size());
  out[0] += float(sample_texture.get_num_mip_levels());
}

kernel void depthcube_methods(depthcube<float, access::sample> sample_texture [[texture(0)]], depthcube<float, access::read> read_texture [[texture(1)]],
    sampler s, device float4 *out) {
  out[0] += float(sample_texture.sample(s, float3(1)));
  out[0] += float(sample_texture.sample(s, float3(1), bias(1)));
  out[0] += float(sample_texture.sample(s, float3(1), level(1)));
  out[0] += float(sample_texture.sample(s, float3(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float3(1), gradientcube(float3(1), float3(2))));
  out[0] += float(sample_texture.sample(s, float3(1), gradientcube(float3(1), float3(2)), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float3(1), bias(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample_compare(s, float3(1), 1.0f));
  out[0] += float(sample_texture.sample_compare(s, float3(1), 1.0f, level(1)));
  out[0] += sample_texture.gather(s, float3(1));
  out[0] += sample_texture.gather_compare(s, float3(1), 1.0f);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float3(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float3(1)));
  out[0] += float(read_texture.read(uint2(1), 1u));
  out[0] += float(read_texture.read(uint2(1), 1u, 1u));
  out[0] += float(read_texture.read(ushort2(1), ushort(1)));
  out[0] += float(read_texture.read(ushort2(1), ushort(1), ushort(1)));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_num_mip_levels());
}

kernel void depthcube_array_methods(depthcube_array<float, access::sample> sample_texture [[texture(0)]], depthcube_array<float, access::read> read_texture [[texture(1)]],
    sampler s, device float4 *out) {
  out[0] += float(sample_texture.sample(s, float3(1), 1u));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, bias(1)));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, level(1)));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, gradientcube(float3(1), float3(2))));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, gradientcube(float3(1), float3(2)), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample(s, float3(1), 1u, bias(1), min_lod_clamp(1)));
  out[0] += float(sample_texture.sample_compare(s, float3(1), 1u, 1.0f));
  out[0] += float(sample_texture.sample_compare(s, float3(1), 1u, 1.0f, level(1)));
  out[0] += sample_texture.gather(s, float3(1), 1u);
  out[0] += sample_texture.gather_compare(s, float3(1), 1u, 1.0f);
  out[0] += float(sample_texture.calculate_clamped_lod(s, float3(1)));
  out[0] += float(sample_texture.calculate_unclamped_lod(s, float3(1)));
  out[0] += float(read_texture.read(uint2(1), 1u, 1u));
  out[0] += float(read_texture.read(uint2(1), 1u, 1u, 1u));
  out[0] += float(read_texture.read(ushort2(1), ushort(1), ushort(1)));
  out[0] += float(read_texture.read(ushort2(1), ushort(1), ushort(1), ushort(1)));
  out[0] += float(sample_texture.get_width());
  out[0] += float(sample_texture.get_width(1u));
  out[0] += float(sample_texture.get_height());
  out[0] += float(sample_texture.get_height(1u));
  out[0] += float(sample_texture.get_array_size());
  out[0] += float(sample_texture.get_num_mip_levels());
}

kernel void depth2d_ms_methods(depth2d_ms<float, access::read> read_texture [[texture(0)]],
    sampler s, device float4 *out) {
  out[0] += float(read_texture.read(uint2(1), 1u));
  out[0] += float(read_texture.read(ushort2(1), ushort(1)));
  out[0] += float(read_texture.get_width());
  out[0] += float(read_texture.get_height());
  out[0] += float(read_texture.get_num_samples());
}

kernel void depth2d_ms_array_methods(depth2d_ms_array<float, access::read> read_texture [[texture(0)]],
    sampler s, device float4 *out) {
  out[0] += float(read_texture.read(uint2(1), 1u, 1u));
  out[0] += float(read_texture.read(ushort2(1), ushort(1), ushort(1)));
  out[0] += float(read_texture.get_width());
  out[0] += float(read_texture.get_height());
  out[0] += float(read_texture.get_array_size());
  out[0] += float(read_texture.get_num_samples());
}

kernel void texture_buffer_methods(texture_buffer<float, access::read> read_texture [[texture(0)]], texture_buffer<float, access::write> write_texture [[texture(1)]], texture_buffer<float, access::read_write> read_write_texture [[texture(2)]],
    sampler s, device float4 *out) {
  out[0] += read_texture.read(1u);
  write_texture.write(float4(1), 1u);
  out[0] += float(read_texture.get_width());
  read_write_texture.fence();
}
