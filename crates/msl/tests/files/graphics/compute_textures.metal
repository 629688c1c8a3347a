// test check
#include <metal_stdlib>
using namespace metal;

kernel void every_texture(texture1d<float> t1 [[texture(0)]], texture1d_array<float> t1a [[texture(1)]], texture2d<float, access::read_write> t2 [[texture(2)]],
                          texture2d_array<half> t2a [[texture(3)]], texture3d<int, access::read> t3 [[texture(4)]], texturecube<float> tc [[texture(5)]],
                          texturecube_array<float> tca [[texture(6)]], texture2d_ms<float> tms [[texture(7)]], depth2d<float> d2 [[texture(8)]],
                          depth2d_array<float> d2a [[texture(9)]], depthcube<float> dc [[texture(10)]], depthcube_array<float> dca [[texture(11)]],
                          depth2d_ms<float> dms [[texture(12)]], texture_buffer<uint, access::write> tb [[texture(13)]],
                          texture2d_ms_array<float> tmsa [[texture(14)]], depth2d_ms_array<float> dmsa [[texture(15)]],
                          texture3d<float> t3s [[texture(16)]], texture1d<float, access::write> t1w [[texture(17)]],
                          sampler s [[sampler(0)]], device float4 *out, uint2 gid [[thread_position_in_grid]]) {
  out[0] = t1.sample(s, 0.5f) + t1.read(0u) + t1a.sample(s, 0.5f, 1) + t1a.read(0u, 1u) + t2.read(gid) + float4(t2a.sample(s, float2(0), 0));
  out[1] = float4(t3.read(uint3(0))) + tc.sample(s, float3(0)) + tca.sample(s, float3(0), 1) + tms.read(gid, 0) + t3s.sample(s, float3(0));
  out[2] = d2.sample(s, float2(0)) + d2.sample_compare(s, float2(0), 0.5f) + d2a.sample_compare(s, float2(0), 1, 0.5f) + dc.sample(s, float3(0));
  out[3] = dca.sample(s, float3(0), 0) + dms.read(gid, 0) + tmsa.read(gid, 0, 0) + dmsa.read(gid, 0, 0);
  t2.write(float4(1), gid);
  t2.write(float4(1), ushort2(gid));
  t2.fence();
  tb.write(uint4(1), gid.x);
  t1w.write(float4(1), gid.x);
  out[4] = t2a.sample(s, float2(0), 0, level(1)).x + d2.gather(s, float2(0)).x + d2.gather_compare(s, float2(0), 0.5f).x;
  out[5] = float(t1.get_width() + t2.get_height() + t3.get_depth() + t2a.get_array_size() + t1.get_num_mip_levels() + tms.get_num_samples());
  out[6] = t3s.sample(s, float3(0), gradient3d(float3(0), float3(0))) + tc.sample(s, float3(0), gradientcube(float3(0), float3(0)));
  out[7] = is_null_texture(t1) ? 1 : 0;
}
kernel void sampling(texture2d<float> t, device float4 *out, sampler s) {
  constexpr sampler all(coord::normalized, address::repeat, s_address::clamp_to_edge, t_address::clamp_to_zero, r_address::mirrored_repeat,
                        filter::linear, mag_filter::nearest, min_filter::linear, mip_filter::linear, compare_func::less, max_anisotropy(4), lod_clamp(0, 4),
                        border_color::opaque_black);
  out[0] = t.sample(all, float2(0)) + t.sample(s, float2(0), int2(1)) + t.sample(s, float2(0), bias(1)) + t.sample(s, float2(0), level(2), int2(1));
  out[1] = t.sample(s, float2(0), gradient2d(float2(0), float2(1))) + t.sample(s, float2(0), min_lod_clamp(1)) + t.gather(s, float2(0), int2(0), component::y);
  out[2] = t.sample(s, float2(0), bias(1), min_lod_clamp(1)) + t.sample(s, float2(0), gradient2d(float2(0), float2(0)), min_lod_clamp(0));
  out[3] = t.calculate_clamped_lod(s, float2(0)) + t.calculate_unclamped_lod(s, float2(0));
}
float4 read_in_function(texture2d<float, access::read> t, uint2 p) { return t.read(p); }
template <typename T> vec<T, 4> generic(texture2d<T> t, sampler s) { return t.sample(s, float2(0)); }
kernel void passed(texture2d<float, access::read> a, texture2d<half> b, sampler s, device float4 *out) { out[0] = read_in_function(a, uint2(0)) + float4(generic(b, s)); }
struct Pulled { float4 position [[position]]; interpolant<float2, interpolation::perspective> uv; };
fragment float4 interpolated(Pulled in [[stage_in]], uint sample [[sample_id]]) {
  return float4(in.uv.interpolate_at_center(), in.uv.interpolate_at_centroid()) + float4(in.uv.interpolate_at_offset(float2(0.5f)), in.uv.interpolate_at_sample(sample));
}
