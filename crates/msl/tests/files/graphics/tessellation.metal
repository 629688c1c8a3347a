// test check
#include <metal_stdlib>
using namespace metal;

struct ControlPoint { float3 position [[attribute(0)]]; };
struct PatchIn { patch_control_point<ControlPoint> control_points; float4 color [[attribute(1)]]; };
struct Out { float4 position [[position]]; half4 color [[flat]]; };

kernel void factors(device MTLQuadTessellationFactorsHalf *quads [[buffer(0)]], device MTLTriangleTessellationFactorsHalf *triangles [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  quads[i].edgeTessellationFactor[3] = 2;
  quads[i].insideTessellationFactor[1] = 2;
  triangles[i].edgeTessellationFactor[2] = quads[i].insideTessellationFactor[0];
  triangles[i].insideTessellationFactor = 1;
}
[[patch(quad, 16)]] vertex Out bezier(PatchIn patch [[stage_in]], float2 at [[position_in_patch]], uint id [[patch_id]], constant float4x4 &mvp [[buffer(1)]]) {
  float3 p = mix(patch.control_points[0].position, patch.control_points[patch.control_points.size() - 1].position, at.x);
  return {mvp * float4(p, 1), half4(patch.color) + half(id)};
}
[[patch(triangle, 3)]] [[vertex]] Out flat(patch_control_point<ControlPoint> points [[stage_in]], float3 at [[position_in_patch]]) {
  return {float4(points[0].position * at.x + points[1].position * at.y + points[2].position * at.z, 1), half4(1)};
}
