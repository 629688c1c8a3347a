// test check
#include <metal_stdlib>
using namespace metal;

constant float fixed[2] = {1, 2, 3};  // error: excess elements
int size();

kernel void refused(device float *out, device int *n, uint i [[thread_position_in_grid]]) {
  float dynamic[n[0]];  // error: array size is not a constant expression
  float by_index[i];  // error: array size is not a constant expression
  float by_call[size()];  // error: array size is not a constant expression
  float negative[-1];  // error: negative
  float unknown[];  // error: needs an explicit size or an initializer
  float by_float[2.5f];  // error: size of array has non-integer type
  float a[2] = {1, 2};
  float b[2];
  b = a;  // error: not assignable
  float c[2] = a;  // error: cannot initialize
  a.x = 1;  // error: not a structure or union
  out[0] = a[1.5f];  // error: array subscript is not an integer
  out[1] = i[i];  // error: not an array, pointer, or vector
  float d[2] = {[3] = 1};  // error: array designator
  int e[2] = 1;  // error: cannot initialize
  void f[2];  // error: void
}
