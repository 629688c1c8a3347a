// test check
#include <metal_stdlib>
using namespace metal;

typedef float wide __attribute__((aligned(16)));
using wider __attribute__((aligned(32))) = wide;
using same = wider;
typedef struct { float x, y, z; } Point __attribute__((aligned(16)));
typedef struct { float x, y, z, w; } Four __attribute__((aligned(64)));
namespace inner { typedef int eight __attribute__((aligned(8))); typedef float wide; }

static_assert(sizeof(wide) == 4 && alignof(wide) == 16, "");
static_assert(alignof(wider) == 32 && alignof(same) == 32 && alignof(inner::eight) == 8, "");
static_assert(sizeof(Point) == 12 && alignof(Point) == 16 && alignof(Four) == 64, "");
static_assert(alignof(inner::wide) == 4 && alignof(const wide) == 16, "");

struct Members { char c; wide f; char d; inner::eight e; };
static_assert(sizeof(Members) == 32 && alignof(Members) == 16, "");
struct Points { char c; Point p; };
static_assert(sizeof(Points) == 32, "");
template <typename T> struct Holder { char c; T x; };
// As in clang, a template argument is the type without the attribute.
static_assert(sizeof(Holder<wide>) == 8, "");

kernel void k(device float *out, device wide *in) {
  wide local = in[1];
  const Point p = {1, 2, 3};
  typedef float inside __attribute__((aligned(8)));
  static_assert(alignof(inside) == 8, "");
  out[0] = local + p.x;
}
