// test check
#include <metal_stdlib>
using namespace metal;

struct Ops {
  static kernel void fill(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }
  kernel void object(device int *x [[buffer(0)]]) { x[0] = 1; }  // error: cannot be a non-static member of a class
};
namespace a::b {
[[kernel]] void inside(device int *x [[buffer(0)]]) { x[0] = 2; }
}
kernel void twice(device int *x [[buffer(0)]] [[buffer(1)]]) {}  // error: 'buffer' attribute is given twice
