// test check
#include <metal_stdlib>
using namespace metal;

namespace a { int f() { return 1; } constant int x = 1; }
namespace b { int f() { return 2; } constant int x = 2; }
using namespace a;
using namespace b;
using namespace missing;  // error: missing
using a::missing;  // error: no member named 'missing' in namespace 'a'
namespace c = missing;  // error: missing
namespace a { int f() { return 3; } }  // error: redefinition of 'f'
struct S {};
namespace S {}  // error: redefinition of 'S'

kernel void refused(device int *out) {
  out[0] = f();  // error: ambiguous
  out[1] = x;  // error: reference to 'x' is ambiguous
  out[2] = a::g();  // error: no member named 'g' in namespace 'a'
  out[3] = a;  // error: a
  a::T t;  // error: T
  out[4] = a::f() + b::x;
}
