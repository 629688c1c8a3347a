// <MetalPerformanceShaders/MetalPerformanceShaders.h>: the part that shaders can use, the rays and intersections of
// MPSRayIntersector, laid out as on the host.
#pragma once
#include <metal_stdlib>

typedef metal::packed_float3 MPSPackedFloat3;

// Rays: MPSRayDataType
struct MPSRayOriginDirection {
  MPSPackedFloat3 origin;
  MPSPackedFloat3 direction;
};
struct MPSRayOriginMinDistanceDirectionMaxDistance {
  MPSPackedFloat3 origin;
  float minDistance;
  MPSPackedFloat3 direction;
  float maxDistance;
};
struct MPSRayOriginMaskDirectionMaxDistance {
  MPSPackedFloat3 origin;
  uint mask;
  MPSPackedFloat3 direction;
  float maxDistance;
};

// Intersections: MPSIntersectionDataType
struct MPSIntersectionDistance {
  float distance;
};
struct MPSIntersectionDistancePrimitiveIndex {
  float distance;
  uint primitiveIndex;
};
struct MPSIntersectionDistancePrimitiveIndexCoordinates {
  float distance;
  uint primitiveIndex;
  metal::float2 coordinates;
};
struct MPSIntersectionDistancePrimitiveIndexInstanceIndex {
  float distance;
  uint primitiveIndex;
  uint instanceIndex;
};
struct MPSIntersectionDistancePrimitiveIndexInstanceIndexCoordinates {
  float distance;
  uint primitiveIndex;
  uint instanceIndex;
  metal::float2 coordinates;
};
