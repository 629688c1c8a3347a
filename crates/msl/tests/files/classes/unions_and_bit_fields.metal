// test check
#include <metal_stdlib>
using namespace metal;

union Bits { float f; uint u; uchar bytes[4]; };
static_assert(sizeof(Bits) == 4, "");
struct Variant { int kind; union { float f; int i; }; };
static_assert(sizeof(Variant) == 8, "");
struct Fields { uint a : 3; uint b : 5; uint : 0; uint c : 24; int d : 8; bool e : 1; };
struct Packed { ushort low : 4, high : 12; };
static_assert(sizeof(Packed) == 2, "");
struct WithStruct { struct { float x, y; }; float z; };

kernel void unions(device uint *out, device Bits *b, device Variant *v) {
  Bits bits;
  bits.f = 1.0f;
  out[0] = bits.u + bits.bytes[3];
  Bits init = {2.0f};
  b[0] = init;
  b[1].u = 7;
  v->kind = 1;
  v->f = 2;
  v->i = 3;
  WithStruct s;
  s.x = s.z = 1;
  out[1] = uint(s.x);
}

kernel void bit_fields(device Fields *fields, device uint *out) {
  Fields f = {1, 2, 3};
  f.a = 7;
  f.b += 1;
  f.d--;
  f.e = true;
  fields[0] = f;
  fields[1].c = f.a | f.b;
  out[0] = fields[1].c << 2;
  Packed p = {1, 2};
  out[1] = p.high;
}
