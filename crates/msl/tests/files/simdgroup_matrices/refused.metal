// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float *f, device half *h, device int *i, constant float *c) {
  simdgroup_float8x8 a, b;
  simdgroup_half8x8 d;
  simdgroup_load(a, h);  // error: no matching function for call to 'simdgroup_load'
  simdgroup_load(d, f);  // error: no matching function for call to 'simdgroup_load'
  simdgroup_load(a, c);  // error: no matching function for call to 'simdgroup_load'
  simdgroup_store(a, h);  // error: no matching function for call to 'simdgroup_store'
  simdgroup_multiply(a, b);  // error: no matching function for call to 'simdgroup_multiply'
  simdgroup_int8x8 e;  // error: unknown type name 'simdgroup_int8x8'
  simdgroup_matrix<int, 8, 8> g;  // error: simdgroup_matrix
  simdgroup_matrix<float, 4, 4> j;  // error: simdgroup_matrix
  a = d;  // error: simdgroup_half8x8
  float x = a[0];  // error: not an array, pointer, or vector
  a + b;  // error: invalid operands to binary expression
  a.x;  // error: x
}
