// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

struct Base { int a, b; };
struct Derived : Base { int c; };
struct Hidden : private Base { int c; };
template <typename T> struct Generic { T value; };
struct FromTemplate : Generic<float> {};

constexpr constant Derived d = {{1, 2}, 3};
static_assert(d.b == 2 && d.c == 3, "");

void f() {
  FromTemplate t = {{2.0f}};
  Hidden h = {{1, 2}, 3};  // error: no matching constructor for initialization of 'Hidden'
}
