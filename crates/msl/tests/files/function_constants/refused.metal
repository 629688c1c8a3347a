// test check
#include <metal_stdlib>
using namespace metal;

constant int initialized [[function_constant(0)]] = 1;  // error: initializer
constant int first [[function_constant(1)]];
constant int second [[function_constant(1)]];  // error: function constant index 1 is already used
int not_constant [[function_constant(2)]];  // error: constant address space
struct S { int a; };
constant S structure [[function_constant(3)]];  // error: function_constant
constant int array[2] [[function_constant(4)]];  // error: function_constant
constant int negative [[function_constant(-1)]];  // error: out of bounds
constant int large [[function_constant(65536)]];  // error: out of bounds
constant int no_index [[function_constant]];  // error: function_constant
constant float4x4 matrix_constant [[function_constant(5)]];  // error: function_constant
constant int K [[function_constant(6)]];
constant bool plain = true;
int runtime();
constant int fixed[K] = {1};  // error: constant
static_assert(K == 1, "");  // error: constant
template <int N> int value() { return N; }

kernel void uses(device float *out, device float *a [[buffer(1), function_constant(K)]],  // error: bool
                 device float *b [[buffer(2), function_constant(missing)]],  // error: missing
                 device float *c [[buffer(3), function_constant(1)]]) {  // error: function constant
  float d[K];  // error: array size is not a constant expression
  out[0] = float(value<K>());  // error: no matching function for call to 'value'
  switch (1) { case K: break; }  // error: constant expression
  K = 2;  // error: read-only
  if constexpr (K > 1) {}  // error: constant expression
}
