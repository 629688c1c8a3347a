// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

static_assert(__builtin_bswap32(0x01020304u) == 0x04030201u, "");
static_assert(__builtin_bswap64(0x0102030405060708ul) == 0x0807060504030201ul, "");
static_assert(__builtin_bitreverse32(1u) == 0x80000000u, "");
static_assert(__builtin_rotateleft32(0x80000001u, 1u) == 3u && __builtin_rotateright32(3u, 1u) == 0x80000001u, "");
static_assert(__builtin_rotateleft32(5u, 0u) == 5u, "");
static_assert(__builtin_ffsl(8l) == 4 && __builtin_abs(-3) == 3, "");
static_assert(__builtin_bswap16(0x0102) == 0x0201 && __builtin_bitreverse64(1ul) == 0x8000000000000000ul, "");
static_assert(__builtin_rotateleft64(1ul, 63ul) == 0x8000000000000000ul && __builtin_rotateright64(1ul, 0ul) == 1ul, "");
static_assert(__builtin_ffsll(0l) == 0 && __builtin_expect_with_probability(5l, 5l, 0.5f) == 5l, "");
static_assert(__has_builtin(__builtin_bswap16) && __has_builtin(__builtin_bit_cast), "");
static_assert((3 ?: 4) == 3 && (0 ?: 4) == 4, "");
constexpr int next(thread int &n) { return ++n; }
constexpr int once() { int n = 0; int v = next(n) ?: 7; return 10 * v + n; }
static_assert(once() == 11, "the value is evaluated once");

float bits(uint x) { return __builtin_bit_cast(float, x); }
int4 whole(float4 x) { return __builtin_convertvector(x, int4); }
int hints(int x) {
  if (__builtin_expect(x > 1, 1)) return __builtin_constant_p(x);
  __builtin_unreachable();
}
int checked(int x) {
  if (x < 0) __builtin_trap();
  return x;
}
bool numbers(float x) {
  float y = __builtin_fabsf(x) + __builtin_inff() + __builtin_huge_valf();
  return __builtin_isnan(y) || __builtin_isinf(y) || __builtin_isfinite(y);
}
