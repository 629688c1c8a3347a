// test check
#include <metal_stdlib>
using namespace metal;

struct Refused {
  uint wide : 40;  // error: width of bit-field
  uint negative : -1;  // error: bit-field
  float f : 3;  // error: bit-field 'f' has non-integral type
  uint zero : 0;  // error: zero width
};
struct Fields { uint a : 3; };
kernel void refused(device Fields *f) {
  device uint *p = &f->a;  // error: address of bit-field requested
  device uint &r = f->a;  // error: bit-field
}

struct Chosen { uint a : 5; uint b : 5; };
void choose(thread Chosen &s, float4 v, bool c) {
  (c ? s.a : s.b) = 1;  // error: cannot assign to a bit-field or vector element that a conditional operator chooses
  (c ? v.x : v.y) += 1;  // error: cannot assign to a bit-field or vector element that a conditional operator chooses
  (c ? v.xy : v.zw) = 1;  // error: cannot assign to a bit-field or vector element that a conditional operator chooses
  uint d = c ? s.a : s.b;
  float2 e = c ? v.xy : v.zw;
}
