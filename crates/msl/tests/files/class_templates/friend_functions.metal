// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Friendly { T x; friend T peek(Friendly f) { return f.x; } };
kernel void k(device float *out) {
  Friendly<float> f = {4};
  Friendly<int> g = {5};
  out[0] = peek(f) + float(peek(g));
}
