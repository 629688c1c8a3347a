// test check
#include <metal_stdlib>
using namespace metal;

struct Commands {
  command_buffer commands [[id(0)]];
  render_pipeline_state pipeline [[id(1)]];
  compute_pipeline_state compute [[id(2)]];
  depth_stencil_state depth [[id(3)]];
  array<texture2d<float>, 8> textures [[id(4)]];
  sampler linear [[id(12)]];
  device float4 *positions [[id(13)]];
};

kernel void encode(device Commands &args [[buffer(0)]], device const uint *indices [[buffer(1)]], constant ushort *small [[buffer(2)]], constant uint *wide, device const ushort *narrow,
                   device const MTLQuadTessellationFactorsHalf *quads, device const MTLTriangleTessellationFactorsHalf *triangles, constant float &x, uint i [[thread_position_in_grid]]) {
  if (i >= args.commands.size()) return;
  render_command c(args.commands, i);
  c.set_render_pipeline_state(args.pipeline);
  c.set_vertex_buffer(args.positions, 0);
  c.set_vertex_buffer(&x, 1);
  c.set_vertex_buffer(args.positions, sizeof(float4), 2);
  c.set_fragment_buffer(args.positions, 0);
  c.set_object_buffer(args.positions, 0);
  c.set_mesh_buffer(&x, 0);
  c.set_object_threadgroup_memory_length(16, 0);
  c.set_cull_mode(cull_mode::back);
  c.set_front_facing_winding(0);
  c.set_triangle_fill_mode(triangle_fill_mode::lines);
  c.set_depth_bias(0, 0, 0);
  c.set_depth_clip_mode(depth_clip_mode::clamp);
  c.set_depth_stencil_state(args.depth);
  c.set_barrier();
  c.clear_barrier();
  c.draw_primitives(primitive_type::triangle, 0, 3, 1, i);
  c.draw_indexed_primitives(primitive_type::triangle_strip, 3, indices, 1, 0, 0);
  c.draw_indexed_primitives(primitive_type::line, 3, small, 1, 0, 0);
  c.draw_indexed_primitives(primitive_type::line_strip, 3, wide, 1, 0, 0);
  c.draw_indexed_primitives(primitive_type::point, 3, narrow, 1, 0, 0);
  c.draw_patches(16, 0, 1, indices, 1, 0, quads);
  c.draw_patches(3, 0, 1, indices, 1, 0, triangles, 8);
  c.draw_mesh_threadgroups(uint3(1), uint3(32, 1, 1), uint3(32, 1, 1));
  c.draw_mesh_threads(uint3(1), uint3(32, 1, 1), uint3(32, 1, 1));
  render_command other(args.commands, i + 1);
  other.copy_command(c);
  c.reset();
}
kernel void encode_compute(device Commands &args [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  compute_command c(args.commands, i);
  c.set_compute_pipeline_state(args.compute);
  c.set_kernel_buffer(args.positions, 0);
  c.set_kernel_buffer(args.positions, 16, 1);
  c.set_threadgroup_memory_length(256, 0);
  c.set_imageblock_size(ushort2(16));
  c.set_stage_in_region(uint3(0), uint3(1));
  c.set_barrier();
  c.clear_barrier();
  c.concurrent_dispatch_threadgroups(uint3(4, 1, 1), uint3(32, 1, 1));
  c.concurrent_dispatch_threads(uint3(4, 1, 1), uint3(32, 1, 1));
  compute_command other(args.commands, i + 1);
  other.copy_command(c);
  c.reset();
}
