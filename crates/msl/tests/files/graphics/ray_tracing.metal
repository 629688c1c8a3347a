// test check
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;

struct Payload { float3 color; uint depth; };
struct Sphere { float3 center; float radius; };
struct BoxResult { bool accept [[accept_intersection]]; float distance [[distance]]; };
struct TriangleResult { bool accept [[accept_intersection]]; bool more [[continue_search]]; };

[[intersection(bounding_box, triangle_data, instancing)]]
BoxResult sphere(float3 origin [[origin]], float3 direction [[direction]], float nearest [[min_distance]], float farthest [[max_distance]],
                 uint primitive [[primitive_id]], uint geometry [[geometry_id]], uint instance [[instance_id]], uint user [[user_instance_id]],
                 device const Sphere *spheres [[buffer(0)]], ray_data Payload &payload [[payload]], const device void *data [[primitive_data]],
                 float4x3 to_object [[world_to_object_transform]], float4x3 to_world [[object_to_world_transform]]) {
  Sphere s = spheres[primitive];
  float3 o = origin - s.center;
  float b = dot(o, direction), c = length_squared(o) - s.radius * s.radius, d = b * b - c;
  float t = -b - sqrt(d);
  payload.depth += geometry + instance + user;
  payload.color = to_object * float4(1) + to_world[0];
  return {d >= 0 && t >= nearest && t <= farthest, t};
}

[[intersection(triangle, triangle_data, instancing)]]
bool alpha(uint primitive [[primitive_id]], float2 at [[barycentric_coord]], bool front [[front_facing]], texture2d<float> t [[texture(0)]], ray_data Payload &payload [[payload]]) {
  constexpr sampler s(filter::linear);
  return front && t.sample(s, at).w > 0.5f + payload.depth + primitive;
}

[[intersection(triangle)]] TriangleResult count(float distance [[distance]], ray_data uint &n [[payload]]) {
  n++;
  return {distance > 1, true};
}

[[intersection(curve, curve_data)]] bool hair(float parameter [[curve_parameter]], uint primitive [[primitive_id]]) { return parameter < 0.5f + primitive; }

kernel void trace(texture2d<float, access::write> out [[texture(0)]], instance_acceleration_structure scene [[buffer(0)]],
                  intersection_function_table<triangle_data, instancing> functions [[buffer(1)]], primitive_acceleration_structure mesh,
                  uint2 at [[thread_position_in_grid]]) {
  ray r(float3(0), float3(0, 0, 1));
  r.max_distance = 100;
  r.origin.x = at.x;
  intersector<triangle_data, instancing> i;
  i.assume_geometry_type(geometry_type::triangle | geometry_type::bounding_box);
  i.force_opacity(forced_opacity::opaque);
  i.accept_any_intersection(true);
  i.set_triangle_cull_mode(triangle_cull_mode::back);
  i.set_triangle_front_facing_winding(winding::counterclockwise);
  i.set_geometry_cull_mode(geometry_cull_mode::curve | geometry_cull_mode::triangle);
  i.set_opacity_cull_mode(opacity_cull_mode::opaque);
  i.assume_identity_transforms(false);
  i.set_base_id(1);
  Payload payload = {float3(0), 0};
  intersector<triangle_data, instancing>::result_type hit = i.intersect(r, scene, 0xFF, functions, payload);
  float4 color = 0;
  if (hit.type == intersection_type::triangle) {
    color.xy = hit.triangle_barycentric_coord;
    color.z = hit.distance + hit.instance_id + hit.user_instance_id + hit.primitive_id + hit.geometry_id + hit.triangle_front_facing;
    color.w = *(const device float *)hit.primitive_data;
  }
  if (i.intersect(r, scene).type == intersection_type::none) color.x = i.intersect(r, scene, 1).distance;
  color.x += i.intersect(r, scene, functions).distance + i.intersect(r, scene, functions, payload).distance + i.intersect(r, scene, 1, functions).distance;
  intersector<> plain;
  intersection_result<> near = plain.intersect(r, mesh);
  color.y += near.distance;
  if (!is_null_acceleration_structure(scene) && !is_null_intersection_function_table(functions) && !is_null_instance_acceleration_structure(scene) && !is_null_primitive_acceleration_structure(mesh)) color.y += functions.size() + scene.get_instance_count();
  out.write(color, at);
}

kernel void query(instance_acceleration_structure scene [[buffer(0)]], device float *out, acceleration_structure<instancing, primitive_motion> moving) {
  intersection_params params;
  params.assume_geometry_type(geometry_type::all);
  params.force_opacity(forced_opacity::none);
  ray r(float3(1), float3(0, 1, 0), 0.1f, 10);
  intersection_query<instancing, triangle_data> q(r, scene, params);
  q.reset(r, scene, 0xFF, params);
  while (q.next()) {
    switch (q.get_candidate_intersection_type()) {
      case intersection_type::triangle: q.commit_triangle_intersection(); break;
      case intersection_type::bounding_box:
        if (q.is_candidate_non_opaque_bounding_box()) q.commit_bounding_box_intersection(1.0f);
        break;
      default: q.abort();
    }
    out[0] += q.get_candidate_triangle_distance() + q.get_candidate_primitive_id() + q.get_candidate_geometry_id() + q.get_candidate_instance_id() + q.get_candidate_user_instance_id() + q.get_candidate_triangle_barycentric_coord().x;
    out[0] += q.get_candidate_ray_origin().x + q.get_candidate_ray_direction().x + q.get_candidate_triangle_front_facing() + q.is_candidate_triangle_front_facing() + q.get_candidate_object_to_world_transform()[0].x + q.get_candidate_world_to_object_transform()[0].x;
    out[0] += *(const device float *)q.get_candidate_primitive_data();
  }
  out[1] = q.get_committed_distance() + q.get_committed_primitive_id() + q.get_committed_geometry_id() + q.get_committed_instance_id() + q.get_committed_user_instance_id() + q.get_committed_triangle_barycentric_coord().y;
  out[1] += q.get_committed_ray_origin().x + q.get_committed_ray_direction().x + q.get_committed_triangle_front_facing() + q.is_committed_triangle_front_facing() + q.get_committed_object_to_world_transform()[0].x + q.get_committed_world_to_object_transform()[0].x;
  out[1] += *(const device float *)q.get_committed_primitive_data() + float(q.get_committed_intersection_type()) + q.get_world_space_ray_origin().x + q.get_world_space_ray_direction().x + q.get_ray_min_distance();
  intersector<instancing, primitive_motion> i;
  out[2] = i.intersect(r, moving, 1u, 0.5f).distance + i.intersect(r, moving, 0.5f).distance;
  intersector<curve_data, max_levels<2>, world_space_data, extended_limits> curves;
  curves.assume_curve_type(curve_type::round);
  curves.assume_curve_basis(curve_basis::bezier);
  curves.assume_curve_control_point_count(4);
  acceleration_structure<> bottom;
  auto c = curves.intersect(r, bottom);
  out[3] = c.curve_parameter + c.world_to_object_transform[0].x + c.object_to_world_transform[1].y;
  intersection_query<curve_data> k;
  k.reset(r, bottom);
  out[4] = k.get_candidate_curve_parameter() + k.get_committed_curve_parameter() + k.get_candidate_curve_distance();
  k.commit_curve_intersection();
  intersection_function_table<> table;
  out[5] = table.get_buffer<float>(0)[0];
  table.set_buffer(out, 1);
  out[6] = table.get_visible_function_table<Payload>(0).depth;
}
