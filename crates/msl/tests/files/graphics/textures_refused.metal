// test check
#include <metal_stdlib>
using namespace metal;

kernel void access_modes(texture2d<float> sampled, texture2d<float, access::read> read, texture2d<float, access::write> written, texture2d<float, access::read_write> both, sampler s, device float4 *out) {
  out[0] = sampled.read(uint2(0)) + read.read(uint2(0)) + both.read(uint2(0));
  sampled.write(float4(1), uint2(0));  // error: no matching member function for call to 'write'
  read.write(float4(1), uint2(0));  // error: no matching member function for call to 'write'
  written.write(float4(1), uint2(0));
  both.write(float4(1), uint2(0));
  out[0] = written.read(uint2(0));  // error: no matching member function for call to 'read'
  out[0] = read.sample(s, float2(0));  // error: no matching member function for call to 'sample'
  out[0] = both.sample(s, float2(0));  // error: no matching member function for call to 'sample'
  out[0] = both.gather(s, float2(0));  // error: no matching member function for call to 'gather'
  out[0] = read.calculate_clamped_lod(s, float2(0));  // error: no matching member function for call to 'calculate_clamped_lod'
  sampled.fence();  // error: no matching member function for call to 'fence'
  written.fence();  // error: no matching member function for call to 'fence'
  both.fence();
  out[0] = both.sparse_sample(s, float2(0)).value();  // error: no matching member function for call to 'sparse_sample'
}

kernel void arguments(texture2d<float> t, texture2d_array<half> a, texturecube<float> c, texture3d<float> v, depth2d<float> d, sampler s, device float4 *out) {
  out[0] = t.sample(s, float2(0), gradient3d(float3(0), float3(0)));  // error: no matching member function for call to 'sample'
  out[0] = t.sample(s, float2(0), level(0), min_lod_clamp(0));  // error: no matching member function for call to 'sample'
  out[0] = t.sample(s, float3(0));  // error: no matching member function for call to 'sample'
  out[0] = float4(a.sample(s, float2(0)));  // error: no matching member function for call to 'sample'
  out[0] = c.sample(s, float3(0), gradient2d(float2(0), float2(0)));  // error: no matching member function for call to 'sample'
  out[0] = v.gather(s, float3(0));  // error: no member named 'gather'
  out[0] = t.sample_compare(s, float2(0), 1.0f);  // error: no member named 'sample_compare'
  out[0] = d.sample_compare(s, float2(0));  // error: no matching member function for call to 'sample_compare'
  out[0] = d.write(1, uint2(0));  // error: no member named 'write'
  out[0] = t.read(float2(0));  // error: no matching member function for call to 'read'
  out[0] = t.get_num_samples();  // error: no member named 'get_num_samples'
  out[0] = t.get_depth();  // error: no member named 'get_depth'
}

kernel void atomics(texture2d<uint, access::read> r, texture2d<float, access::read_write> f, texture2d<ulong, access::read_write> l, texturecube<uint, access::read_write> c, device uint4 *out) {
  out[0] = r.atomic_load(uint2(0));  // error: no matching member function for call to 'atomic_load'
  f.atomic_store(float4(0), uint2(0));  // error: no matching member function for call to 'atomic_store'
  l.atomic_fetch_add(uint2(0), ulong4(0));  // error: no matching member function for call to 'atomic_fetch_add'
  out[0] = c.atomic_load(uint2(0));  // error: no member named 'atomic_load'
}

kernel void samplers(device float *out) {
  constexpr sampler fine(coord::pixel, address::clamp_to_zero, filter::nearest, compare_func::less, max_anisotropy(4), lod_clamp(0, 4), border_color::opaque_white, mip_filter::linear, s_address::repeat, t_address::mirrored_repeat, r_address::clamp_to_border, mag_filter::bicubic, min_filter::linear, reduction::minimum);
  constexpr sampler wrong(coord::pixel, 1);  // error: no matching constructor for initialization of 'sampler'
  constexpr sampler other(component::x);  // error: no matching constructor for initialization of 'sampler'
}

kernel void doubles(texture2d<char> t) {}  // error: the texel type of a texture must be
kernel void depths(depth2d<half> t) {}  // error: the texel type of a depth texture must be float
kernel void depth_writes(depth2d<float, access::write> t) {}  // error: a depth texture can only be sampled and read
kernel void ms_writes(texture2d_ms<float, access::write> t) {}  // error: a multisampled texture can only be read
kernel void buffers(texture_buffer<float, access::sample> t) {}  // error: a texture buffer cannot be sampled
kernel void longs(texture1d<ulong> t) {}  // error: the texel type of a texture must be
