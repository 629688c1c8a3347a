// test check
#include <MetalPerformanceShaders/MetalPerformanceShaders.h>

using Ray = MPSRayOriginMinDistanceDirectionMaxDistance;
using Hit = MPSIntersectionDistancePrimitiveIndexCoordinates;
static_assert(sizeof(Ray) == 32 && sizeof(MPSRayOriginDirection) == 24, "");
static_assert(sizeof(Hit) == 16 && sizeof(MPSIntersectionDistancePrimitiveIndexInstanceIndexCoordinates) == 24, "");
static_assert(sizeof(MPSIntersectionDistancePrimitiveIndexInstanceIndex) == 12, "");

kernel void shade(device Ray *rays [[buffer(0)]], const device Hit *hits [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  Hit hit = hits[i];
  rays[i].origin = MPSPackedFloat3(hit.coordinates.x, hit.coordinates.y, -1.0);
  rays[i].direction = MPSPackedFloat3(0.0, 0.0, hit.distance);
  rays[i].minDistance = 0.0f;
  rays[i].maxDistance = hit.distance < 0 ? 2.0f : float(hit.primitiveIndex);
}
