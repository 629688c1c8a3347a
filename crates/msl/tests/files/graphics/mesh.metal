// test check
#include <metal_stdlib>
using namespace metal;

struct Vertex { float4 position [[position]]; float2 uv [[user(uv)]]; float clip [[clip_distance]][2]; };
struct Primitive { float3 normal; uint layer [[render_target_array_index]]; bool culled [[primitive_culled]]; };
struct Payload { uint meshlets[32]; float4x4 transform; };
typedef mesh<Vertex, Primitive, 64, 126, topology::triangle> Triangles;
typedef mesh<Vertex, void, 2, 1, topology::line> Lines;

[[object, max_total_threads_per_threadgroup(32), max_total_threadgroups_per_mesh_grid(64)]]
void objects(object_data Payload &payload [[payload]], mesh_grid_properties grid, constant float4x4 &transform [[buffer(0)]],
             uint i [[thread_index_in_threadgroup]], uint3 at [[threadgroup_position_in_grid]], threadgroup uint *shared [[threadgroup(0)]]) {
  payload.meshlets[i] = at.x;
  if (i == 0) {
    payload.transform = transform;
    shared[0] = 0;
    grid.set_threadgroups_per_grid(uint3(32, 1, 1));
  }
}

[[mesh, max_total_threads_per_threadgroup(64)]]
void meshes(Triangles output, const object_data Payload &payload [[payload]], device const float3 *positions [[buffer(0)]],
            uint i [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  Vertex v;
  v.position = payload.transform * float4(positions[payload.meshlets[group] + i], 1);
  v.uv = float2(lane);
  v.clip[0] = v.clip[1] = 1;
  output.set_vertex(i, v);
  output.set_index(i, uchar(i));
  output.set_indices(4 * i, uchar4(0, 1, 2, 3));
  output.set_indices(2 * i, uchar2(0, 1));
  if (i == 0) output.set_primitive_count(Triangles::max_primitives);
  Primitive p = {float3(0, 0, 1), 0, false};
  output.set_primitive(i, p);
  static_assert(Triangles::max_indices == 378, "three for each primitive");
}

[[mesh]] void lines(Lines output, uint i [[thread_position_in_grid]]) {
  output.set_vertex(i, Vertex{float4(0), float2(0), {1, 1}});
  output.set_primitive_count(1);
}

// SPIRV-Cross: vertices that are positions only.
[[mesh]] void positions(mesh<float4, Primitive, 3, 1, topology::triangle> output, uint i [[thread_index_in_threadgroup]]) {
  output.set_vertex(i, float4(i, 0, 0, 1));
  output.set_primitive_count(1);
}

struct FragmentIn { Vertex vertex_; Primitive primitive; };
fragment float4 shade(Vertex v [[stage_in]], uint primitive [[primitive_id]], float3 at [[barycentric_coord]]) {
  return v.position + float4(at, primitive);
}
