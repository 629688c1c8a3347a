// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *out) {
  float a[1000000000000];  // error: array
  out[0] = a[0];
}
struct S { char bytes[9223372036854775807]; };  // error: too large
