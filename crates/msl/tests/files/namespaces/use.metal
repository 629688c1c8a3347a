// test check
#include <metal_stdlib>
using namespace metal;

namespace a { int f() { return 1; } namespace b { int f() { return 2; } struct S { int n; }; } constant int c = 3; }
namespace a { int g() { return f(); } }
namespace alias = a::b;
namespace outer::inner { int f() { return 4; } }
namespace { int hidden() { return 5; } }
inline namespace v1 { int versioned() { return 6; } }
namespace with_using { using namespace a; int h() { return f() + g(); } using a::b::S; }
namespace exports { using a::f; using a::c; typedef a::b::S T; }
namespace overloads { int o(int) { return 1; } }
using overloads::o;
int o(float) { return 2; }
int shadow(int n) { return n; }
namespace shadowing { int shadow(float f) { return int(f); } int use() { return shadow(1) + ::shadow(2); } }
int a_function() { using namespace a::b; S s = {1}; return s.n; }
struct Global { int x; };
namespace types { struct Global { float y; }; Global make() { return {1}; } ::Global other() { return {2}; } }

kernel void uses(device int *out) {
  out[0] = a::f() + a::b::f() + a::g() + alias::f() + outer::inner::f() + hidden() + v1::versioned() + versioned();
  out[1] = with_using::h() + exports::f() + exports::c + ::a::c + o(1) + o(1.0f) + shadowing::use();
  with_using::S s = {1};
  exports::T t = {2};
  using namespace a;
  out[2] = g() + s.n + t.n + a_function() + int(types::make().y) + types::other().x;
  using a::b::S;
  S u = {3};
  namespace local = a::b;
  out[3] = u.n + local::f();
  out[4] = metal::min(1, 2) + int(metal::fast::sqrt(2.0f) + ::metal::precise::sqrt(2.0f));
}
