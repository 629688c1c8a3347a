// test check
// options: --std metal4.0
// Dependent types, instantiations, lambdas as pointers, default arguments: accepted, as by clang.
#include <metal_stdlib>
using namespace metal;
namespace c59 { template <typename T> void f() { typename T::type x; x = 1; } struct S { using type = int; }; void g() { f<S>(); } }
namespace c60 { template <typename T> void f() { typename T::type x = 1, y(2); x = y; } struct S { using type = int; }; void g() { f<S>(); } }
namespace c62 { struct S { using type = int; }; void g() { S::type x; x = 1; } }
namespace c63 { struct S { using type = int; }; void g() { typename S::type x; x = 1; } }
namespace c64 { template <typename T> struct R { using type = T; }; void g() { typename R<int>::type x; R<int>::type y = 1; x = y; } }
namespace c65 { template <typename T> void f() { thread typename T::type *p = 0; (void)p; } struct S { using type = int; }; void g() { f<S>(); } }
namespace c66 { template <typename T> void f(int a) { T::x * a; } struct S { static const constant int x = 1; }; void g() { f<S>(2); } }
namespace c71 { template <typename T> T f(T t) { return t; } extern template int f<int>(int); template int f<int>(int); }
namespace c73 { template <typename T> T f(T t) { return t; } template <> int f<int>(int t) { return 1; } template int f<int>(int); }
namespace c79 { struct S { int final; int override; }; int f(S s) { return s.final + s.override; } }
namespace c81 { struct S final { int a; }; int f(S s) { return s.a; } }
namespace c87 { void f() { int (*p)(int) = [](int x) { return x; }; p(1); } }
namespace c88 { int g(int (*p)(int)) { return p(1); } int f() { return g([](int x) { return x + 1; }); } }
namespace c89 { void f() { auto l = [](int x) { return x; }; int (*p)(int) = l; p(1); } }
namespace c93 { void f() { int (*p)(int) = [](auto x) { return x; }; p(1); } }
namespace c94 { typedef int (*F)(int); F f() { return [](int x) { return x * 2; }; } }
namespace c95 { void f() { int (*p)(int) = nullptr; p = [](int x) { return x; }; } }
namespace c96 { int g(int (*p)(int)); float g(float (*p)(float)); void f() { g([](int x) { return x; }); } }
namespace c97 { int f(int, int = 2); int f(int = 1, int); int f(int a, int b) { return a + b; } int g() { return f() + f(1); } }
namespace c98 { int f(int a, int b = 2); int f(int a = 1, int b) { return a + b; } int g() { return f(); } }
namespace c101 { struct S { int g(int a, int b = 2); }; int S::g(int a = 1, int b) { return a + b; } int h() { S s; return s.g(); } }
namespace c103 { int f(int a) { return a; } int f(int a = 1); int g() { return f(); } }
namespace c104 { int f(int a) { return a; } int g() { int f(int a = 3); return f(); } }
namespace c105 { template <typename T> T f(T a, T b = 2); template <typename T> T f(T a, T b) { return a + b; } int g() { return f(1); } }
namespace c107 { constexpr int f(int (*p)(int), int x) { return p(x); } static_assert(f([](int x) { return x + 1; }, 2) == 3, ""); }
namespace c108 { template <typename T> constexpr T f(T a, T b = 2); template <typename T> constexpr T f(T a, T b) { return a + b; } static_assert(f(1) == 3, ""); }
namespace c109 { constexpr int f(int a, int b = 2); constexpr int f(int a = 1, int b) { return 10 * a + b; } static_assert(f() == 12 && f(3) == 32, ""); }
namespace c115 { template <typename T, int N> struct alignas(sizeof(T) * N) V { T v[N]; }; static_assert(alignof(V<half, 4>) == 8, ""); static_assert(alignof(V<float, 4>) == 16, ""); V<half, 2> f() { V<half, 2> v; v.v[0] = 1; return v; } }
