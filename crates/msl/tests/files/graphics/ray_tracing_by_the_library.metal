// test check
// The library includes ray tracing, and the descriptors that a host writes.
#include <metal_stdlib>
using namespace metal;
using namespace raytracing;

static_assert(sizeof(MTLAccelerationStructureInstanceDescriptor) == 64, "");

kernel void trace(constant MTLAccelerationStructureInstanceDescriptor *instances [[buffer(0)]], instance_acceleration_structure scene [[buffer(1)]], device MTLAccelerationStructureInstanceDescriptor *made [[buffer(2)]], device float *out [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  ray r;
  r.origin = float3(0);
  r.direction = float3(instances[i].transformationMatrix[2][0], 0, 1);
  intersector<triangle_data, instancing> query;
  auto found = query.intersect(r, scene, instances[i].mask);
  made[i] = instances[i];
  made[i].transformationMatrix[3] = packed_float3(r.direction);
  out[i] = found.distance + float(made[i].accelerationStructureIndex);
}
