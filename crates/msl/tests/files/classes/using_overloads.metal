// test check
#include <metal_stdlib>
using namespace metal;

struct Base {
  int f(int) { return 1; }
  int f(thread int *) { return 2; }
  int g(int) { return 3; }
};
struct Derived : Base {
  using Base::f;
  int f(thread int *) { return 4; }
  int f(float2) { return 5; }
  int g(float2) { return 6; }
};

kernel void k(device int *o) {
  Derived d;
  int x = 0;
  o[0] = d.f(1) + d.f(&x) + d.f(float2(0));
  o[1] = d.g(&x);  // error: no matching member function for call to 'g'
}
