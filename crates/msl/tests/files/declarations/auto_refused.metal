// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float *f) {
  auto a;  // error: auto
  auto b = 1, c = 2.0f;  // error: 'auto' deduced as 'int'
  auto d = missing;  // error: undeclared identifier 'missing'
  auto e = f, *g = f;
  auto *h = 1;  // error: initializer of type 'int'
  auto i = i + 1;  // error: i
  auto j[2] = {1, 2};  // error: auto
}
void parameter(auto x) {}  // error: auto
struct S { auto x = 1; };  // error: auto
