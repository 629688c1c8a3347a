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
struct Tail { uint a : 5; uchar b; };
static_assert(sizeof(Tail) == 4, "");
struct Mixed { ushort a : 3; uint b : 20; uchar c : 7; };
static_assert(sizeof(Mixed) == 4 && alignof(Mixed) == 4, "");
struct Unnamed { uchar a; int : 0; uchar b; };
static_assert(sizeof(Unnamed) == 5 && alignof(Unnamed) == 1, "");
struct Crossing { uchar a; uint b : 25; };
static_assert(sizeof(Crossing) == 8, "");

struct Wrapped { int a : 3; uint : 4; uint b : 4; bool c : 1; };
constexpr Wrapped wrapped(int x) {
  Wrapped w = {x, 0, true};
  w.b = uint(x) + 10;
  return w;
}
static_assert(wrapped(6).a == -2 && wrapped(6).b == 0 && wrapped(6).c, "");

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

// As an operand, a bit-field is an `int` if that holds all its values, whatever its declared type.
struct Operands { ulong a : 21; ulong b : 32; ulong c : 33; long d : 20; uint e : 20; uint f : 32; uchar g : 3; };
constexpr bool is_negative(Operands x) { return x.e - 1 < 0 && -x.a < 0 && ~x.g == -1; }
static_assert(is_negative({1}), "");
void operands(thread Operands &s, bool c) {
  static_assert(is_same<decltype(+s.a), int>::value && is_same<decltype(+s.b), uint>::value, "");
  static_assert(is_same<decltype(+s.c), ulong>::value && is_same<decltype(-s.d), int>::value, "");
  static_assert(is_same<decltype(s.e + 1), int>::value && is_same<decltype(s.f + 1), uint>::value, "");
  static_assert(is_same<decltype(s.a << 3), int>::value && is_same<decltype(~s.g), int>::value, "");
  static_assert(is_same<decltype(c ? s.a : s.e), int>::value && is_same<decltype(s.a++), ulong>::value, "");
  static_assert(is_same<decltype(-(s.a = 3)), int>::value && is_same<decltype(-(++s.a)), int>::value, "");
}
