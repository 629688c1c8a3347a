// test check
// As in Cycles; `thread` is the space of objects that have no other, so that such an alias is the class itself.
#include <metal_stdlib>
using namespace metal;

typedef thread struct Vertex { float3 p; } Vertex;
struct Edge { Vertex from, to; };
typedef thread Edge Edge;

typedef device struct Face { float3 n; } Face;  // error: typedef redefinition with different types ('device Face' vs 'Face')
typedef const struct Color { float4 c; } Color;  // error: typedef redefinition with different types ('const Color' vs 'Color')

kernel void k(device float *out) {
  Vertex v = {float3(1)};
  thread Vertex *p = &v;
  Edge e = {v, *p};
  out[0] = e.to.p.x;
}
