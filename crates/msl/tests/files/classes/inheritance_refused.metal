// test check
#include <metal_stdlib>
using namespace metal;

struct Base { int a; };
struct Secret : private Base {};
struct Other { int a; };
struct Both : Base, Other {};
struct Unknown : Missing {};  // error: Missing
struct FromInt : int {};  // error: base
struct Incomplete;
struct FromIncomplete : Incomplete {};  // error: incomplete type
int take(Base b);

kernel void refused(device int *out) {
  Secret s;
  Both b;
  Other o;
  out[3] = take(o);  // error: no matching function for call to 'take'
  Base base;
  Both derived = base;  // error: no viable conversion
}
