// test check
// A value that may differ between threads does not become uniform but by make_uniform (specification, 2.15.2).
#include <metal_stdlib>
using namespace metal;

struct S { int x; };
uniform<int> foo(int y) { return y; } // error: no viable conversion from 'int' to 'uniform<int>'
void takes(uniform<int> a);
constant int fc [[function_constant(0)]];

void types() {
  uniform<S> of_struct;               // error: uniform<T> takes a number, bool or a vector
  uniform<device int *> of_pointer;   // error: uniform<T> takes a number, bool or a vector
  uniform<float2x2> of_matrix;        // error: uniform<T> takes a number, bool or a vector
}
void conversions(int y, uniform<int> x, uniform<float4> v, float4 w, bool p) {
  int z = x * y;
  uniform<int> b = z;                 // error: no viable conversion from 'int' to 'uniform<int>'
  uniform<int> c = x * y;             // error: no viable conversion from 'int' to 'uniform<int>'
  uniform<int> d = uniform<int>(y);   // error: no matching constructor
  uniform<int> e(y);                  // error: no matching constructor
  uniform<int> f = p ? x : b;         // error: no viable conversion from 'int' to 'uniform<int>'
  uniform<int> g = fc;                // error: no viable conversion from 'const constant int' to 'uniform<int>'
  uniform<float4> h = w;              // error: no viable conversion from 'float4' to 'uniform<float4>'
  uniform<int> i = v;                 // error: no viable conversion from 'uniform<float4>' to 'uniform<int>'
  uniform<bool> j = x < y;            // error: no viable conversion from 'bool' to 'uniform<bool>'
  x = y;                              // error: no viable conversion from 'int' to 'uniform<int>'
  x += y;                             // error: invalid operands to binary expression ('uniform<int>' and 'int')
  takes(y);                           // error: no matching function for call to 'takes'
  const uniform<int> k = x;
  k = x;                              // error: cannot assign
  thread int &r = x;                  // error: cannot bind to an lvalue of type 'uniform<int>'
  float m = v.x;                      // error: no member
}
template <typename T> T same(T a, T b) { return a; }
void deduced(int y, uniform<int> x) {
  same(x, y);                         // error: no matching function for call to 'same'
}
kernel void position(uniform<uint> i [[thread_position_in_grid]]) {}  // error: is not valid for attribute
kernel void by_value(uniform<uint> n [[buffer(0)]]) {}  // error: cannot be applied to a parameter of type
void components(uniform<float4> v) {
  float a = v[1];                     // error: does not provide a subscript operator
}
