// test check
#include <metal_stdlib>
using namespace metal;

struct Params { uint n; };
kernel int not_void(device int *a) { return 1; }  // error: must return 'void'
kernel float4 vector_result() { return 1; }  // error: must return 'void'
kernel void by_value(uint n) {}  // error: invalid type 'uint' for input declaration in a kernel function
kernel void struct_by_value(Params p) {}  // error: invalid type 'Params' for input declaration in a kernel function
kernel void value_with_index(uint n [[buffer(0)]]) {}  // error: 'buffer' attribute cannot be applied
kernel void thread_pointer(thread float *p) {}  // error: thread
kernel void twice(device float *a [[buffer(1)]], device float *b [[buffer(1)]]) {}  // error: 'buffer' resource location at index 1
kernel void too_large(device float *a [[buffer(31)]]) {}  // error: out of bounds
kernel void negative(device float *a [[buffer(-1)]]) {}  // error: out of bounds
kernel void no_index(device float *a [[buffer]]) {}  // error: 'buffer' attribute takes one argument
kernel void not_constant(device float *a [[buffer(missing)]]) {}  // error: undeclared identifier 'missing'
kernel void float_index(device float *a [[buffer(1.5f)]]) {}  // error: integer constant
kernel void wrong_kind(threadgroup float *t [[buffer(0)]]) {}  // error: 'buffer' attribute cannot be applied
kernel void wrong_kind2(device float *t [[threadgroup(0)]]) {}  // error: 'threadgroup' attribute cannot be applied
kernel void wrong_kind3(device float *t [[texture(0)]]) {}  // error: 'texture' attribute cannot be applied
kernel void wrong_kind4(texture2d<float> t [[buffer(0)]]) {}  // error: 'buffer' attribute cannot be applied
kernel void typo(device float *a [[bufer(0)]]) {}  // error: unknown attribute 'bufer'; did you mean 'buffer'?
kernel void texture_range(texture2d<float> t [[texture(128)]]) {}  // error: out of bounds
kernel void sampler_range(sampler s [[sampler(16)]]) {}  // error: out of bounds
kernel void threadgroup_twice(threadgroup float *a [[threadgroup(0)]], threadgroup int *b [[threadgroup(0)]]) {}  // error: 'threadgroup' resource location at index 0
kernel void same_name(device float *a) {}
kernel void same_name(device int *a) {}  // error: same_name
[[max_total_threads_per_threadgroup(0)]] kernel void none(device float *a) {}  // error: max_total_threads_per_threadgroup
[[max_total_threads_per_threadgroup(-1)]] kernel void fewer(device float *a) {}  // error: max_total_threads_per_threadgroup
kernel void too_many(device int *b0, device int *b1, device int *b2, device int *b3, device int *b4, device int *b5, device int *b6,
                     device int *b7, device int *b8, device int *b9, device int *b10, device int *b11, device int *b12, device int *b13,
                     device int *b14, device int *b15, device int *b16, device int *b17, device int *b18, device int *b19, device int *b20,
                     device int *b21, device int *b22, device int *b23, device int *b24, device int *b25, device int *b26, device int *b27,
                     device int *b28, device int *b29, device int *b30,
                     device int *b31) {}  // error: buffer
struct S { kernel void method(device float *a) {} };  // error: kernel
kernel void two_builtins(uint a [[thread_position_in_grid]] [[thread_index_in_simdgroup]]) {}  // error: thread_index_in_simdgroup
kernel void default_argument(device float *a = nullptr) {}
kernel void atomic_value(atomic_int a) {}  // error: atomic_int

namespace mine { template <typename T> struct visible_function_table { int n; }; }
kernel void own_table(mine::visible_function_table<int> table) {}  // error: invalid type 'visible_function_table<int>' for input declaration in a kernel function
