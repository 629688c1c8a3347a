// test check
#include <metal_stdlib>
using namespace metal;

struct V { float x, y; V operator,(int n) const { return {x, float(n)}; } };
struct Ref { int n; thread Ref *operator->() { return this; } };
kernel void operators(device float *out) {
  V a = {1, 2};
  out[0] = (a, 3).y;
  Ref r = {1};
  out[1] = float(r->n);
}
