// test check
#include <metal_stdlib>
using namespace metal;

double d(int x);  // error: 'double' is not supported in Metal
struct S { double x; };  // error: 'double' is not supported in Metal
kernel void k(device float *out, device double *in) {  // error: 'double' is not supported in Metal
  double local = 1;  // error: 'double' is not supported in Metal
  out[0] = float((double)out[1]);  // error: 'double' is not supported in Metal
  out[1] = 1.0;
  long double l;  // error: 'double' is not supported in Metal
}
constant bool same = is_same_v<double, float>;  // error: 'double' is not supported in Metal
template <typename T> T f(T x) { return x; }
float g() { return f<double>(1); }  // error: 'double' is not supported in Metal
