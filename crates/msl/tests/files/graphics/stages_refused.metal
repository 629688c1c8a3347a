// test check
#include <metal_stdlib>
using namespace metal;

struct Out { float4 position [[position]]; };
struct Members {
  float3 position;  // error: a member of the 'stage_in' struct of a vertex function needs an 'attribute' attribute
  float2 uv [[attribute(1)]];
};
struct WrongTypes {
  float3 position [[position]];  // error: type 'float3' is not valid for attribute 'position': it must be 'float4'
  half size [[point_size]];  // error: type 'half' is not valid for attribute 'point_size'
  float layer [[render_target_array_index]];  // error: type 'float' is not valid for attribute 'render_target_array_index'
  float4 color [[color(0)]];  // error: 'color' attribute cannot be applied to the result of a vertex function
};
struct WrongOutputs {
  float4 position [[position]];  // error: 'position' attribute cannot be applied to the result of a fragment function
  half depth [[depth(any)]];  // error: type 'half' is not valid for attribute 'depth': it must be 'float'
  float nearer [[depth(nearer)]];  // error: 'depth' attribute takes 'any', 'greater' or 'less'
  int stencil [[stencil]];  // error: type 'int' is not valid for attribute 'stencil'
  packed_float3 color [[color(0)]];  // error: type 'packed_float3' is not valid for attribute 'color'
  float4 far [[color(8)]];  // error: 'color' attribute parameter is out of bounds
  float4 one [[color(1)]];
  float4 two [[color(1)]];  // error: two outputs have the attribute 'color(1)'
  float4 other [[color(1), index(1)]];
};
struct NoDistance { bool accept [[accept_intersection]]; };
struct IntAccept { int accept [[accept_intersection]]; };  // error: type 'int' is not valid for attribute 'accept_intersection'

kernel void in_kernel(uint v [[vertex_id]],  // error: 'vertex_id' attribute cannot be applied to a parameter of a kernel function
                      float4 p [[position]]) {}  // error: 'position' attribute cannot be applied to a parameter of a kernel function
vertex Out in_vertex(uint i [[thread_position_in_grid]],  // error: 'thread_position_in_grid' attribute cannot be applied to a parameter of a vertex function
                     bool front [[front_facing]],  // error: 'front_facing' attribute cannot be applied to a parameter of a vertex function
                     int v [[vertex_id]],  // error: type 'int' is not valid for attribute 'vertex_id': it must be 'ushort' or 'uint'
                     float2 at [[position_in_patch]]) {  // error: 'position_in_patch' attribute cannot be applied to a parameter of a vertex function
  return {float4(0)};
}
fragment float4 in_fragment(uint v [[vertex_id]],  // error: 'vertex_id' attribute cannot be applied to a parameter of a fragment function
                            uint front [[front_facing]],  // error: type 'uint' is not valid for attribute 'front_facing'
                            float3 at [[position]],  // error: type 'float3' is not valid for attribute 'position'
                            uint lane [[thread_index_in_simdgroup]]) {
  return float4(at, lane);
}
vertex Out members(Members in [[stage_in]]) { return {float4(in.position, 1)}; }
vertex Out number(float in [[stage_in]]) { return {float4(in)}; }  // error: type 'float' is not valid for attribute 'stage_in'
vertex WrongTypes wrong_types() { return {}; }
fragment WrongOutputs wrong_outputs() { return {}; }
vertex device float *pointer(device float *x [[buffer(0)]]) { return x; }  // error: invalid return type
fragment float4 depth_result() [[depth(any)]] { return 0; }  // error: type 'float4' is not valid for attribute 'depth'

[[object]] int object_result(mesh_grid_properties grid) { return 0; }  // error: an object function must return 'void', not 'int'
[[object]] void object_payload(device float &x [[payload]]) {}  // error: it must be a reference or pointer to 'object_data' memory
[[mesh]] void no_mesh(uint i [[thread_index_in_threadgroup]]) {}  // error: a mesh function must have a parameter of type 'mesh'
[[object]] void mesh_in_object(mesh<Out, void, 3, 1, topology::triangle> m) {}  // error: invalid type
kernel void grid_in_kernel(mesh_grid_properties grid) {}  // error: invalid type
kernel void wrong_vertices(mesh<float3, void, 3, 1, topology::triangle> m) {}  // error: the vertices of a mesh must be a struct or float4 // error: invalid type
kernel void too_large(mesh<Out, void, 257, 1, topology::triangle> m) {}  // error: a mesh has 1 to 256 vertices // error: invalid type

[[intersection(sphere)]] bool sphere() { return true; }  // error: 'intersection' attribute needs 'triangle', 'bounding_box' or 'curve' first
[[intersection(bounding_box)]] bool box() { return true; }  // error: must return a struct with members for 'accept_intersection' and 'distance'
[[intersection(bounding_box)]] NoDistance near_box() { return {true}; }  // error: must return a struct with members
[[intersection(triangle)]] float triangle() { return 1; }  // error: must return 'bool' or a struct
[[intersection(triangle)]] IntAccept int_accept() { return {1}; }
[[intersection(triangle)]] bool inputs(float2 o [[origin]],  // error: type 'float2' is not valid for attribute 'origin'
                                       uint v [[vertex_id]],  // error: 'vertex_id' attribute cannot be applied to a parameter of an intersection function
                                       device float &p [[payload]]) {  // error: it must be a reference or pointer to 'ray_data' memory
  return true;
}
