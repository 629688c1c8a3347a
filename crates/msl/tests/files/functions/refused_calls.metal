// test check
#include <metal_stdlib>
using namespace metal;

int twice(int n) { return n; }
void nothing() {}
kernel void refused(device int *out) {
  out[0] = nothing();  // error: void
  int x = nothing();  // error: void
  out[1] = twice(nothing());  // error: no matching function for call to 'twice'
  auto a = nothing();  // error: void
  twice(1) = 2;  // error: not assignable
  nothing() + 1;  // error: invalid operands to binary expression
  undeclared(1);  // error: undeclared identifier 'undeclared'
}
int uses_later() { return later(); }  // error: undeclared identifier 'later'
int later() { return 1; }
auto two_types(bool b) { if (b) return 1; return 2.0f; }  // error: deduced
