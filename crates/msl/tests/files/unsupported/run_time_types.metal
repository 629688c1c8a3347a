// test check
#include <metal_stdlib>
using namespace metal;

struct S { int a; };
kernel void k(device S *s) {
  auto p = dynamic_cast<device S *>(s);  // error: use of dynamic_cast requires
  auto t = typeid(s);  // error: use of typeid requires
}
