// test check
#include <metal_stdlib>
using namespace metal;

static constant float a = 1;
constant static float b = 2;
extern constant float c;
constant float c = 3;
const constant float d = 4;
constexpr constant float e = 5;
static constexpr constant float f = 6;
constant const float g = 7;
constant float h(8), i{9};
constant struct { int x; } unnamed = {1};
alignas(16) constant float aligned = 1;
struct alignas(32) S { alignas(16) float x; };
static_assert(alignof(S) == 32 && sizeof(S) == 32, "");
[[deprecated]] void old() {}
__attribute__((unused)) static void unused() {}
kernel void k(device float *out, device float *__restrict r, device float *restrict_free) {
  volatile float v = 1;
  const volatile int n = 2;
  static constexpr constant int s = 3;
  constant int t = 4;
  int x = 1, y = x + 1, z[2] = {x, y};
  unsigned u = 1;
  unsigned char uc = 2;
  signed char sc = 3;
  unsigned short int us = 4;
  long int li = 5;
  long unsigned lu = 6;
  short si = 7;
  uint8_t u8 = 1; int8_t i8 = 2; uint16_t u16 = 3; int16_t i16 = 4; uint32_t u32 = 5; int32_t i32 = 6;
  uint64_t u64 = 7; int64_t i64 = 8; size_t sz = 9; ptrdiff_t pd = 10;
  out[0] = a + b + c + d + e + f + g + h + i + float(unnamed.x) + aligned + v + float(n + s + t + z[1]) + float(u + uc);
  out[1] = float(sc + us + li) + float(lu) + float(si + u8 + i8 + u16 + i16 + u32 + i32) + float(u64 + i64 + sz + pd) + r[0];
}
