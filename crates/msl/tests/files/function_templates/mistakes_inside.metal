// test check
#include <metal_stdlib>
using namespace metal;

struct Small { int a; };
template <typename T> T member(T x) { return x.b; }  // error: no member named 'b' in 'Small'
template <typename T> T operation(T x) { return x * 2; }  // error: invalid operands to binary expression
template <typename T> T assertion(T x) { static_assert(sizeof(T) == 8, "eight bytes"); return x; }  // error: eight bytes
template <int N> int array() { int a[N]; return a[0]; }  // error: negative
template <typename T> void assign(device T *p) { p[0] = "text"; }  // error: assigning to
kernel void uses(device int *out) {
  out[0] = member(Small{1}).a;
  out[1] = operation(Small{1}).a;
  out[2] = int(assertion(1.0f));
  out[3] = array<-1>();
  assign(out);
}
