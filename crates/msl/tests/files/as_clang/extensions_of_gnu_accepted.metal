// test check
// options: --std metal4.0
// Types of expressions, names of functions, offsets and functions of clang: accepted, as by clang.
#include <metal_stdlib>
using namespace metal;
namespace c0 { int f(int a) { __typeof__(a) b = a; return b; } }
namespace c1 { int f(int a) { __typeof(a + 1) b = a; return b; } }
namespace c2 { __typeof__(1) f() { return 1; } }
namespace c4 { void f(thread int &a) { __typeof__(a) b = 1; b = a; } }
namespace c5 { int f(int a) { return ({ __typeof__(a) _a = a; _a; }); } }
namespace c6 { int f(thread int *p) { __typeof__(*p) x = 1; return x; } }
namespace c7 { static_assert(__is_same(__typeof__(int), int), ""); }
namespace c8 { static_assert(__is_same(__typeof__(1.0f), float), ""); }
namespace c9 { static_assert(__is_same(__typeof__((short)1 + (short)1), int), ""); }
namespace c10 { template <typename T> T f(T a) { __typeof__(a) b = a; return b; } int g() { return f(1); } }
namespace c11 { struct S { int x; }; __typeof__(S::x) g() { return 1; } }
namespace c12 { constant int a[3] = {1, 2, 3}; static_assert(sizeof(__typeof__(a)) == 12, ""); }
namespace c13 { void f(int a) { thread __typeof__(a) *p = &a; (void)p; } }
namespace c14 { void f(float4 a) { __typeof__(a.x) b = 1; (void)b; } }
namespace c17 { int f() { return sizeof(__func__); } }
namespace c18 { void f() { static_assert(sizeof(__func__) == 2, ""); } }
namespace c19 { void f() { static_assert(sizeof(__FUNCTION__) == 2, ""); } }
namespace c20 { void f(int) { static_assert(sizeof(__PRETTY_FUNCTION__) == sizeof("void c20::f(int)"), ""); } }
namespace c21 { struct S { void g() { static_assert(sizeof(__func__) == 2, ""); } }; }
namespace c22 { template <typename T> void f(T) { static_assert(sizeof(__func__) == 2, ""); } void g() { f(1); } }
namespace c23 { char f() { return __func__[0]; } }
namespace c24 { char f() { const constant char *p = __func__; return p[0]; } }
namespace c27 { struct S { int a; int b; }; static_assert(__builtin_offsetof(S, b) == 4, ""); }
namespace c28 { struct S { int a; int b[3]; }; static_assert(__builtin_offsetof(S, b[2]) == 12, ""); }
namespace c29 { struct I { int x, y; }; struct S { int a; I i[2]; }; static_assert(__builtin_offsetof(S, i[1].y) == 16, ""); }
namespace c35 { template <typename T> struct P { char c; T t; }; static_assert(__builtin_offsetof(P<int>, t) == 4, ""); }
namespace c36 { template <typename T> int f() { return __builtin_offsetof(T, b); } struct S { int a, b; }; int g() { return f<S>(); } }
namespace c37 { struct A { int x; }; struct B : A { int y; }; static_assert(__builtin_offsetof(B, x) == 0, ""); }
namespace c38 { struct S { union { int a; struct { char b, c; }; }; }; static_assert(__builtin_offsetof(S, c) == 1, ""); }
namespace c39 { bool f(int a, int b) { int r; return __builtin_add_overflow(a, b, &r); } }
namespace c40 { bool f(uint a, int b) { short r; return __builtin_sub_overflow(a, b, &r); } }
namespace c41 { bool f(long a, ulong b) { int r; return __builtin_mul_overflow(a, b, &r); } }
namespace c46 { constexpr bool g(int a, int b) { int r = 0; return __builtin_add_overflow(a, b, &r); } static_assert(g(2147483647, 1), ""); static_assert(!g(1, 2), ""); }
namespace c47 { float2 f(float4 a, float4 b) { return __builtin_shufflevector(a, b, 0, 5); } }
namespace c48 { float4 f(float4 a) { return __builtin_shufflevector(a, a, 3, 2, 1, 0); } }
namespace c49 { float4 f(float2 a, float2 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3); } }
namespace c53 { float2 f(float4 a) { return __builtin_shufflevector(a, a, -1, 1); } }
namespace c57 { int f(int x) { if (x) return 1; __builtin_unreachable(); } }
namespace c83 { int f(int x) { switch (x) { case 1: x = 2; __attribute__((fallthrough)); case 2: return x; } return 0; } }
namespace c84 { int f(int x) { switch (x) { case 1: x = 2; [[fallthrough]]; case 2: return x; } return 0; } }
namespace c85 { int f(int x) { switch (x) { case 1: x = 2; [[clang::fallthrough]]; case 2: return x; } return 0; } }
namespace c110 { template <typename R, typename A, typename B> constexpr long add(A a, B b) { R r = 0; bool o = __builtin_add_overflow(a, b, &r); return o ? -1 : long(r); } static_assert(add<uchar>(200, 55) == 255 && add<uchar>(200, 56) == -1 && add<uint>(-1, 1u) == 0 && add<int>(-1, 0) == -1, ""); }
namespace c111 { template <typename R, typename A, typename B> constexpr R mul(A a, B b) { R r = 0; return __builtin_mul_overflow(a, b, &r) ? R(r + 1) : r; } static_assert(mul<int>(65536, 65536) == 1 && mul<long>(-3, 5ul) == -15 && mul<ulong>(1ul << 63, 2u) == 1 && mul<char>(-64, 2) == -128, ""); }
namespace c112 { template <typename R, typename A, typename B> constexpr bool sub(A a, B b) { R r = 0; return __builtin_sub_overflow(a, b, &r); } static_assert(sub<uint>(1, 2) && !sub<int>(1u, 2u) && sub<int>(-2147483647, 2) && !sub<long>(0ul, 1) && sub<long>(0ul, 1ul << 63 | 1), ""); }
namespace c113 { constexpr constant float4 v = __builtin_shufflevector(float2(1, 2), float2(3, 4), 3, 0, 2, 1); static_assert(v.x == 4 && v.y == 1 && v.z == 3 && v.w == 2, ""); }
namespace c114 { template <typename T, typename... P> constexpr T make(P... p) { return T(p...); } static_assert(make<float3>(1, 2, 3).z == 3 && make<float2>(4.5f).y == 4.5f && make<int>(7) == 7, ""); }
