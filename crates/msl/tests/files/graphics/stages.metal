// test check
#include <metal_stdlib>
using namespace metal;

struct VertexIn { float3 position [[attribute(0)]]; half2 uv [[attribute(1)]]; packed_float3 normal [[attribute(2)]]; };
struct VertexOut {
  float4 position [[position, invariant]];
  float2 uv [[user(uv), center_no_perspective]];
  float3 normal [[centroid_perspective]];
  uint id [[flat]];
  half4 color [[sample_perspective]];
  float size [[point_size]];
  float clip [[clip_distance]][4];
  uint layer [[render_target_array_index]];
  uint viewport [[viewport_array_index]];
  float3 view [[shared]];
};
struct FragmentIn { float4 position [[position]]; float2 uv [[user(uv)]]; interpolant<float3, interpolation::perspective> normal; };
struct FragmentOut {
  half4 color [[color(0), index(0)]];
  half4 factor [[color(0), index(1)]];
  float depth [[depth(less)]];
  uint stencil [[stencil]];
  uint mask [[sample_mask]];
};
constant bool has_color [[function_constant(0)]];
struct Arguments { texture2d<half> t [[id(0)]]; sampler s [[id(1)]]; constant float4 *tint [[id(2)]]; array<texture2d<float>, 4> more [[id(3)]]; };

vertex VertexOut transform(VertexIn in [[stage_in]], constant float4x4 *mvp [[buffer(1)]], uint v [[vertex_id]], ushort i [[instance_id]], uint first [[base_vertex]], uint base [[base_instance]],
                           ushort view [[amplification_id]], ushort views [[amplification_count]]) {
  VertexOut out;
  out.position = mvp[view] * float4(in.position, 1);
  out.uv = float2(in.uv);
  out.normal = float3(in.normal);
  out.id = v + i + first + base + views;
  out.color = 1;
  out.size = 1;
  out.clip[0] = out.clip[1] = out.clip[2] = out.clip[3] = 0;
  out.layer = out.viewport = 0;
  out.view = 0;
  return out;
}
vertex void capture(uint v [[vertex_id]], device float4 *out [[buffer(0)]]) { out[v] = 0; }
vertex float4 position(uint v [[vertex_id]]) [[position]] { return float4(v); }

[[early_fragment_tests]] fragment half4 early(VertexOut in [[stage_in]], half4 before [[color(0)]], bool front [[front_facing]], float2 point [[point_coord]], uint sample [[sample_id]], uint mask [[sample_mask]]) {
  return before + half4(in.uv.x, point.x, sample, mask) * half(front);
}
fragment FragmentOut outputs(FragmentIn in [[stage_in]], constant Arguments &args [[buffer(0)]], half4 old [[color(1), raster_order_group(0), function_constant(has_color)]],
                             texture2d<float, access::read_write> rw [[texture(0), raster_order_group(1)]], device float *d [[buffer(1), raster_order_group(2)]],
                             uint layer [[render_target_array_index]], uint viewport [[viewport_array_index]], ushort view [[amplification_id]]) {
  FragmentOut out;
  out.color = args.t.sample(args.s, in.uv) + half4(*args.tint) + half4(args.more[2].sample(args.s, in.uv));
  if (has_color) out.color += old;
  out.factor = half4(in.normal.interpolate_at_center().x);
  out.depth = in.position.z + d[0] + rw.read(uint2(0)).x;
  out.stencil = layer + viewport + view;
  out.mask = get_num_samples();
  return out;
}
fragment void nothing(float3 at [[barycentric_coord]], uint p [[primitive_id]], device float *out [[buffer(0)]]) { out[p] = at.x; discard_fragment(); }
struct Depth { float d [[depth(any)]]; };
fragment Depth depth_only(float4 p [[position]]) { return {p.z}; }

[[visible]] float shade(float3 n, device const float *x) { return n.x + x[0]; }
[[stitchable]] half4 tint(half4 color, float amount) { return color * half(amount); }

kernel void stage_in(VertexIn in [[stage_in]], uint3 origin [[grid_origin]], uint3 size [[grid_size]], device float3 *out) { out[origin.x + size.x] = in.position; }
