// test check
#include <metal_stdlib>
using namespace metal;

namespace shapes {
struct ray { float length; };
}
using namespace shapes;
struct box { int side; };

kernel void k(device float *out) {
  ray ray;
  struct ray other;
  ray.length = 1;
  other.length = ray.length;
  struct box box;
  box.side = 2;
  struct box second = box;
  out[0] = other.length + second.side;
}
kernel void hidden(device float *out) {
  ray ray;
  ray shadow;  // error: expected ';' after expression
}
