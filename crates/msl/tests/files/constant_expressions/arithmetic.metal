// test check
#include <metal_stdlib>
using namespace metal;

static_assert(1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 / 2 == 3 && 7 % 3 == 1, "");
static_assert((1 << 4) == 16 && 256 >> 4 == 16 && (6 & 3) == 2 && (6 | 1) == 7 && (6 ^ 3) == 5 && ~0 == -1, "");
static_assert(!false && (true || false) && !(true && false), "");
static_assert(1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2 && 1 == 1, "");
static_assert(0x10 == 16 && 010 == 8 && 0b11 == 3 && 1'000 == 1000 && 'A' == 65 && '\n' == 10 && '\x41' == 65, "");
static_assert(1.5f * 2 == 3.0f && 1e3f == 1000.0f && 0x1p4f == 16.0f && .5f == 0.5f && 1.f == 1.0f, "");
static_assert(0xffffffffu + 1u == 0u && -1 > 0u == true && 4294967295u == uint(-1), "");
static_assert(9223372036854775807l > 0 && 18446744073709551615ul > 0ul, "");
static_assert(sizeof(1) == 4 && sizeof(1l) == 8 && sizeof(1.0h) == 2 && sizeof(1.0f) == 4 && sizeof('a') == 1 && sizeof(true) == 1, "");
static_assert((1, 2) == 2 && (true ? 1 : 2) == 1, "");
static_assert(float4(1, 2, 3, 4).z == 3.0f && (float2(1) + float2(2)).x == 3.0f, "");
static_assert(int(3.99f) == 3 && float(3) == 3.0f && uint(3.5h) == 3u, "");
static_assert(numeric_limits<int>::max() == 2147483647 && numeric_limits<uchar>::max() == 255 && numeric_limits<float>::max() > 3e38f, "");
static_assert(numeric_limits<short>::min() == -32768 && numeric_limits<float>::lowest() < 0 && numeric_limits<half>::digits == 11, "");
static_assert(INT_MAX == 2147483647 && CHAR_BIT == 8 && UCHAR_MAX == 255, "");
static_assert(alignof(int) == 4 && alignof(float4) == 16 && sizeof(float[3]) == 12, "");
static_assert(sizeof(bool) == 1 && sizeof(char) == 1 && sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long) == 8 && sizeof(size_t) == 8, "");
static_assert(sizeof(half) == 2 && sizeof(bfloat) == 2 && sizeof(float) == 4 && sizeof(device float *) == 8, "");
constexpr constant float folded = 2.0f * M_PI_F;
constexpr constant int table[3] = {1, 2, 3};
static_assert(table[0] + table[2] == 4 && folded > 6.28f, "");
