// test check
#include <metal_stdlib>
using namespace metal;

struct Empty {};
struct Point { float x, y; };
struct Nested { struct Inner { int n; } inner; Point points[2]; enum Kind { A, B } kind; typedef float Scalar; };
class Private { float hidden; };
struct Defaults { int a = 1; float b{2}; float4 c = float4(3); };
struct Forward;
struct Links { device Forward *f; };
struct Forward { int n; };
static_assert(sizeof(Empty) == 1, "");
static_assert(sizeof(Point) == 8 && alignof(Point) == 4, "");
static_assert(sizeof(Nested) == 24, "");
struct Aligned { char c; float4 v; char d; };
static_assert(sizeof(Aligned) == 48 && alignof(Aligned) == 16, "");
struct alignas(16) Wide { float x; };
static_assert(sizeof(Wide) == 16, "");
struct Tight { half d; uchar q[3]; packed_float3 p; };
static_assert(sizeof(Tight) == 20, "");
typedef struct { float a; float b; } Named;
typedef struct Tag { int t; } Tagged;
struct Tag tagged(struct Tag t) { return t; }

kernel void structs(device float *out, device Point *points, constant Nested &nested) {
  Point p = {1, 2};
  Point q = p;
  Point r{3, 4};
  Point s = Point{5, 6};
  Point zero = {};
  Point partial = {1};
  Point designated = {.x = 1, .y = 2};
  q = {7, 8};
  q.x += p.y * r.x - s.y;
  points[0] = q;
  points[1] = points[0];
  Nested::Inner i = nested.inner;
  Nested::Scalar f = nested.points[1].y;
  Nested::Kind k = Nested::A;
  Defaults d;
  Defaults e{};
  Named n = {1, 2};
  Tagged t = tagged({3});
  struct Local { int a; int b() const { return a + 1; } };
  Local local = {4};
  out[0] = q.x + zero.x + partial.y + designated.x + float(i.n) + f + float(k) + d.c.x + e.b + n.a + float(t.t);
  out[1] = float(local.b());
  struct { int u; float v; } unnamed = {1, 2};
  out[2] = unnamed.v;
  const Point fixed = points[2];
  out[3] = fixed.x;
}

Point make(float x) { return {x, 2 * x}; }
Point swap(Point p) { return Point{p.y, p.x}; }
kernel void by_value(device Point *out) { out[0] = swap(make(out[0].x)); out[1].x = make(1).y; }
