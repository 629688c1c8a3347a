// test check
#include <metal_stdlib>
#include <metal_raytracing>
using namespace metal;
using namespace metal::raytracing;

kernel void members(primitive_acceleration_structure scene [[buffer(0)]], intersection_function_table<> table [[buffer(1)]], device float *out) {
  ray r;
  intersector<> i;
  auto hit = i.intersect(r, scene);
  out[0] = hit.triangle_barycentric_coord.x;  // error: no member named 'triangle_barycentric_coord'
  out[0] = hit.instance_id;  // error: no member named 'instance_id'
  out[0] = i.intersect(r, scene, 1u, table).distance;  // error: no matching member function for call to 'intersect'
  out[0] = i.intersect(scene, r).distance;  // error: no matching member function for call to 'intersect'
  intersection_query<> q;
  out[0] = q.get_candidate_instance_id();  // error: no matching member function for call to 'get_candidate_instance_id'
  i.assume_geometry_type(geometry_cull_mode::triangle);  // error: geometry_type
  intersector<int> wrong;  // error: an intersector has unknown tags
}
kernel void index(primitive_acceleration_structure scene [[texture(0)]]) {}  // error: 'texture' attribute cannot be applied
