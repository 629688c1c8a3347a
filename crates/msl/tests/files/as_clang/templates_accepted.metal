// test check
// options: --std metal4.0
// Templates, lambdas, enums and constants: accepted, as by clang.
namespace c2 { template <typename T> T f() { return T(); } int g() { return f<int>(); } }
namespace c7 { template <int N> int f() { return N; } int g() { constexpr int x = 3; return f<x>(); } }
namespace c16 { template <typename T = int> struct S { T a; }; S<> s(); }
namespace c18 { template <typename T, typename U = T> struct S { T a; U b; }; S<int> s(); }
namespace c19 { template <typename... T> struct S {}; S<> a(); S<int, float> b(); }
namespace c21 { template <typename... T> int f(T... t) { return sizeof...(t); } int g() { return f(1, 2, 3); } }
namespace c25 { template <typename... T> int f(T... t) { return (t + ...); } int g() { return f(1, 2, 3); } }
namespace c26 { template <typename... T> int f(T... t) { return (t + ... + 0); } int g() { return f(); } }
namespace c28 { template <typename T> struct S {}; template <typename T> struct S<thread T *> { int x; }; int f() { S<thread int *> s; return s.x; } }
namespace c36 { template <typename T> void f(T t) { t.x(); } }
namespace c38 { template <typename T> void f(T t) { undeclared(t); } }
namespace c40 { template <typename T> void f(T t) { typename T::type x; } }
namespace c42 { template <typename T> void f(T t) { t.template g<int>(); } }
namespace c43 { struct S { typedef int type; }; template <typename T> typename T::type f(T) { return 1; } int g() { return f(S()); } }
namespace c45 { template <typename T> typename T::type f(T) { return 1; } int f(float) { return 1; } int g() { return f(1); } }
namespace c46 { template <typename T> using P = thread T *; void f(P<int> p) { *p = 1; } }
namespace c48 { template <typename T> constexpr constant int v = sizeof(T); static_assert(v<int> == 4, ""); }
namespace c50 { template <typename T> struct B { int x; }; template <typename T> struct D : B<T> { int f() { return this->x; } }; int g() { D<int> d; return d.f(); } }
namespace c51 { template <typename T> struct B { int x; }; template <typename T> struct D : B<T> { int f() { return B<T>::x; } }; int g() { D<int> d; return d.f(); } }
namespace c52 { template <typename T> struct S { void f(); }; template <typename T> void S<T>::f() {} }
namespace c55 { template <typename T> struct S { void f() { T::bad(); } }; void g() { S<int> s; } }
namespace c57 { template <typename T> struct S { T::type x; }; }
namespace c58 { template <typename T> int f(T) { return 1; } template <typename T> int f(thread T *) { return 2; } int g(thread int *p) { return f(p); } }
namespace c60 { template <typename T> int f(T) { return 1; } int f(int) { return 2; } int g() { return f(1); } }
namespace c61 { template <template <typename> class C> struct S { C<int> c; }; template <typename T> struct V { T t; }; S<V> f(); }
namespace c63 { template <int N> struct S { int a[N]; }; S<0> f(); S<3> g(); }
namespace c65 { template <int N> struct F { static constexpr constant int v = N * F<N - 1>::v; }; template <> struct F<0> { static constexpr constant int v = 1; }; static_assert(F<5>::v == 120, ""); }
namespace c66 { template <typename T, int N> int f(thread T (&a)[N]) { return N; } int g() { int a[3]; return f(a); } }
namespace c67 { template <typename T> auto f(T a) -> decltype(a + 1) { return a + 1; } int g() { return f(1); } }
namespace c68 { template <typename T> auto f(T a) { return a + 1; } int g() { return f(1); } }
namespace c70 { auto f(bool b) { if (b) return 1; return 2; } }
namespace c72 { auto f() { } void g() { f(); } }
namespace c77 { void f() { auto x = 1, y = 2; } }
namespace c78 { void f() { auto x{1}; x = 2; } }
namespace c84 { void f() { decltype(1) x = 2; decltype((x)) y = x; } }
namespace c85 { void f() { decltype(auto) x = 1; x = 2; } }
namespace c87 { template <typename T> void f() { if constexpr (sizeof(T) == 4) { T::bad(); } } void g() { f<char>(); } }
namespace c91 { void f() { if constexpr (1.5f) { } } }
namespace c93 { template <typename T> void f(T) {} template void f<int>(int); template void f(float); }
namespace c97 { template <typename T> struct S { template <typename U> U f(U u) { return u; } }; int g() { S<int> s; return s.f(1); } }
namespace c98 { template <typename T> struct S { template <typename U> U f(U u); }; template <typename T> template <typename U> U S<T>::f(U u) { return u; } }
namespace c100 { template <typename T> struct S { static int f() { return T(); } }; int g() { return S<int>::f(); } }
namespace c101 { template <typename T> struct S { friend int h(S s) { return 1; } }; int g() { S<int> s; return h(s); } }
namespace c102 { template <typename T> struct S { S(T) {} }; void g() { S s(1); S<int> t = s; } }
namespace c103 { template <typename T> struct S { template <typename U> S(T, U) {} }; void g() { S s(1, 2.5f); S<int> t = s; } }
namespace c104 { template <typename T, typename U> struct S { T a; S(T, U) {} }; void g() { S s(1, 2.5f); S<int, float> t = s; } }
namespace c105 { template <typename T> struct S { T a; }; template <typename T> S(T) -> S<T>; void g() { S s{1}; S<int> t = s; } }
namespace c106 { template <typename T> struct S { S(thread T *) {} }; void g() { int x; S s(&x); S<int> t = s; } }
namespace c108 { template <typename T, int N> struct S { S(thread T (&)[N]) {} }; void g() { int x[3]; S s(x); S<int, 3> t = s; } }
namespace c109 { template <typename... T> struct S { S(T...) {} }; void g() { S s(1, 2.5f); S<int, float> t = s; } }
namespace c110 { template <typename T = float> struct S { S() {} }; void g() { S s; S<float> t = s; S u{}; } }
namespace c112 { template <typename T> struct S { S(T) {} }; S<int> f() { return S(1); } auto h() { return S{2}; } }
namespace c115 { template <typename T> struct S { S(T) {} S(const thread S &) = default; }; void f() { S a(1); S b(a); S c = a; S<int> d = b; } }
namespace c119 { void f() { auto l = [](auto x) { return x; }; l(1); l(1.5f); } }
namespace c123 { void f() { int y = 1; auto l = [y]() mutable { y = 2; }; l(); } }
namespace c124 { void f() { int y = 1; auto l = [&y]() { y = 2; }; l(); } }
namespace c126 { void f() { auto l = []() -> int { }; l(); } }
namespace c130 { struct S { int x; void f() { auto l = [this]() { return x; }; l(); } }; }
namespace c132 { void f() { constexpr int n = 3; auto l = []() { return n; }; l(); } }
namespace c134 { void f() { [] { return 1; }(); } }
namespace c135 { constexpr int f(int n) { return n < 2 ? 1 : n * f(n - 1); } static_assert(f(5) == 120, ""); }
namespace c143 { constexpr int f() { int x = 0; for (int i = 0; i < 10; i++) x += i; return x; } static_assert(f() == 45, ""); }
namespace c144 { struct S { int x; constexpr S(int a) : x(a) {} constexpr int g() const { return x; } }; static_assert(S(3).g() == 3, ""); }
namespace c146 { constexpr void f(); }
namespace c150 { enum E { A = 1, B = A + 1, C = B << 2 }; static_assert(C == 8, ""); }
namespace c154 { enum class E { A }; int f() { return (int)E::A + static_cast<int>(E::A); } }
namespace c158 { enum E { A }; E f() { return (E)0; } int g() { return A + 1; } int h() { return E::A; } }
namespace c159 { enum E { A }; enum F { B }; bool f(E e, F g) { return e == g; } }
namespace c161 { enum class E { A, B }; bool f(E e) { return e < E::B; } }
namespace c167 { enum E { A, B }; E operator|(E a, E b) { return E(int(a) | int(b)); } void f(E e) { e = e | B; } }
namespace c169 { enum E { A, }; }
namespace c170 { enum { A, B }; int f() { return A; } }
namespace c173 { enum class E : uchar { A }; static_assert(sizeof(E) == 1, ""); }
