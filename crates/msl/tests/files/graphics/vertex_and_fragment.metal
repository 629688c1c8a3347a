// test check
#include <metal_stdlib>
using namespace metal;

struct VertexIn { float3 position [[attribute(0)]]; float2 uv [[attribute(1)]]; };
struct VertexOut { float4 position [[position]]; float2 uv; float size [[point_size]]; uint layer [[render_target_array_index]]; float3 flat_normal [[flat]]; half4 color [[user(color)]]; };
struct FragmentOut { float4 color0 [[color(0)]]; half4 color1 [[color(1)]]; float depth [[depth(any)]]; uint mask [[sample_mask]]; };
struct Uniforms { float4x4 mvp; };

vertex VertexOut main_vertex(VertexIn in [[stage_in]], constant Uniforms &u [[buffer(1)]], uint id [[vertex_id]], uint instance [[instance_id]]) {
  VertexOut out;
  out.position = u.mvp * float4(in.position, 1);
  out.uv = in.uv;
  out.size = 1;
  out.layer = instance + id;
  return out;
}
[[vertex]] float4 only_position(device const float4 *positions [[buffer(0)]], uint id [[vertex_id]]) { return positions[id]; }
fragment FragmentOut main_fragment(VertexOut in [[stage_in]], texture2d<half> t [[texture(0)]], sampler s [[sampler(0)]], bool front [[front_facing]], float2 point [[point_coord]]) {
  FragmentOut out;
  constexpr sampler linear(mag_filter::linear, min_filter::linear, address::clamp_to_edge);
  half4 a = t.sample(s, in.uv), b = t.sample(linear, in.uv, level(0));
  if (a.w < 0.5h) discard_fragment();
  out.color0 = float4(a + b) + dfdx(in.uv.x) + dfdy(in.uv.y) + fwidth(in.uv.x);
  out.color1 = front ? a : b;
  out.depth = point.x;
  out.mask = get_num_samples();
  float2 p = get_sample_position(0);
  out.depth += p.x;
  return out;
}
[[fragment]] half4 half_fragment(VertexOut in [[stage_in]]) { return half4(1); }
fragment void no_output(float4 position [[position]]) {}
