// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T sum(T a, T b) { return a + b; }
template <int N> int value() { return N; }
template <typename T, int N> T both() { return T(N); }
template <typename T> void needs_pointer(device T *p);
template <typename T> typename T::type needs_type(T x);
template <float (*op)(float)> float apply(float x) { return op(x); }
float one(float x);
float two(float x, float y);
int n();

kernel void refused(device float *f) {
  f[0] = sum<int, int>(1, 2);  // error: no matching function for call to 'sum'
  f[1] = value<f>();  // error: no matching function for call to 'value'
  f[2] = value<float>();  // error: no matching function for call to 'value'
  f[3] = value<n()>();  // error: no matching function for call to 'value'
  f[4] = value();  // error: no matching function for call to 'value'
  f[5] = value<1.5f>();  // error: no matching function for call to 'value'
  f[6] = both<float>();  // error: no matching function for call to 'both'
  f[7] = both<3, float>();  // error: no matching function for call to 'both'
  needs_pointer(1);  // error: no matching function for call to 'needs_pointer'
  needs_type(1);  // error: no matching function for call to 'needs_type'
  f[8] = apply<one>(1) + apply<two>(1);  // error: no matching function for call to 'apply'
  f[10] = sum<Missing>(1, 2);  // error: 'Missing'
}
