// test check
#include <metal_stdlib>
using namespace metal;

[[visible]] float f(float x) { return x; }
[[visible]] float declared(float x);
[[visible]] float declared(float x) { return f(x); }
[[visible]] int f(int x) { return x; }  // error: two functions have the name 'f'
struct S { [[visible]] int member() { return 1; } };  // error: 'visible' attribute cannot be applied to a member function

float use(visible_function_table<float(float)> table, uint i) { return table[i](1.0f); }

kernel void k(device float *out, visible_function_table<float(float)> table [[buffer(3)]],
              visible_function_table<void(device float *)> effects) {
  effects[0](out);
  out[0] = use(table, 2) + table.size() + (table.empty() ? 1 : 0) + f(2.0f);
  out[1] = table[0](1.0f, 2);  // error: the function takes 1 arguments, but 2 were provided
  out[2] = table[0] == nullptr || is_null_visible_function_table(table);
}
kernel void f(device float *out) {}  // error: two functions have the name 'f'
kernel void wrong(visible_function_table<int(int)> table [[texture(0)]]) {}  // error: 'texture' attribute cannot be applied to a parameter of type
kernel void taken(device int *x [[buffer(1)]], visible_function_table<int(int)> table [[buffer(1)]]) {}  // error: cannot reserve 'buffer' resource location at index 1: 'x' has it

[[stitchable]] float stitched(float x) { return x; }
[[stitchable]] int stitched(int x) { return x; }  // error: two functions have the name 'stitched'
struct T { [[stitchable]] int member() { return 1; } };  // error: 'stitchable' attribute cannot be applied to a member function
[[visible]] kernel void both(device float *out) {}  // error: 'visible' attribute cannot be applied to an entry point

template <typename T> [[visible]] T twice(T x) { return x + x; }
template [[host_name("twice_float")]] [[visible]] float twice<float>(float);
template [[host_name("twice_float")]] int twice<int>(int);  // error: two functions have the name 'twice_float'
