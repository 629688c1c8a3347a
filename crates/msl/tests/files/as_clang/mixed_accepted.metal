// test check
// options: --std metal4.0
// Bases, copies, default arguments and conversions: accepted, as by clang.
namespace c0 { template <typename T> struct B { int x; void f() {} typedef int type; }; template <typename T> struct D : B<T> { using B<T>::x; using B<T>::f; int g() { f(); return x; } void f(int) {} }; int h() { D<int> d; d.f(); d.f(1); return d.g(); } }
namespace c4 { template <typename T> struct B { typedef int type; }; template <typename T> struct D : B<T> { typename B<T>::type x; }; int f() { D<int> d; return d.x; } }
namespace c5 { struct A { int x; }; template <typename T> struct D : A { int f() { return x; } }; int g() { D<int> d; return d.f(); } }
namespace c6 { template <typename T> struct B { int x; }; struct D : B<int> { int f() { return x; } }; }
namespace c7 { int x(); template <typename T> struct B { float x() { return 1; } }; template <typename T> struct D : B<T> { int f() { return x(); } }; static_assert(sizeof(D<int>().f()) == 4, ""); }
namespace c8 { struct S { S(const thread S &o) : x(o.x + 1) {} S(int a) : x(a) {} int x; }; int f() { S a(1); S b = a; S c(b); return c.x; } }
namespace c9 { struct S { int x; constexpr S(int a) : x(a) {} constexpr S(const thread S &o) : x(o.x + 1) {} }; constexpr int f() { S a(1); S b = a; S c(b); return c.x; } static_assert(f() == 3, ""); }
namespace c10 { struct S { int x; constexpr S(int a) : x(a) {} constexpr S(const thread S &o) : x(o.x + 1) {} }; constexpr int g(S s) { return s.x; } constexpr int f() { S a(1); return g(a); } static_assert(f() == 2, ""); }
namespace c11 { struct S { int x; constexpr S(int a) : x(a) {} constexpr S(const thread S &o) : x(o.x + 1) {} }; constexpr int f() { S a(1); S b(5); b = a; return b.x; } static_assert(f() == 1, ""); }
namespace c12 { constexpr int f() { constexpr int n = 3; auto l = []() { return n; }; return l(); } static_assert(f() == 3, ""); }
namespace c13 { constexpr int f() { constexpr int n = 3; struct S { constexpr int g() const { return n; } }; return S().g(); } static_assert(f() == 3, ""); }
namespace c15 { int f() { auto l = [](int a, int b = 2) { return a + b; }; return l(1); } }
namespace c16 { void f() { int x = 0; auto l = [&x] { x++; }; l(); } }
namespace c19 { struct S { int a; thread S &operator=(int x) { a = x; return *this; } }; void f() { S s; s = 1; } }
namespace c20 { struct S { int a; void operator=(const thread S &o) { a = o.a; } }; void f() { S s, t; s = t; } }
namespace c21 { struct S { int a; S() = default; S(int x) : a(x) {} }; void f() { S s; S t{}; S u = 3; S v = {3}; } }
namespace c25 { struct A { A(int) {} }; struct B { B(A) {} }; void f() { B b(1); } }
namespace c28 { struct A { operator int() const { return 1; } }; int f(A a) { return a + 1; } }
namespace c31 { int f(int x) { return x++ + ++x; } }
namespace c32 { int f(int x) { return sizeof x + sizeof(int) + sizeof(x + 1); } }
namespace c33 { int f(int x) { int y = x, z = y; return z; } }
namespace c36 { int f(int x = 1, int y = 2) { return x; } int g() { return f() + f(1) + f(1, 2); } }
namespace c38 { int f(int x = 1.5f) { return x; } }
namespace c39 { template <typename T> int f(T x = 1) { return x; } int g() { return f<int>(); } }
namespace c41 { template <typename T = int> int f(T x = 1) { return x; } int g() { return f(); } }
namespace c42 { template <typename T, typename U> struct P {}; template <typename T> struct P<T, T> { int same; }; int f() { P<int, int> p; return p.same; } }
namespace c43 { template <int I> struct N { enum { v = I }; }; static_assert(N<3>::v == 3, ""); }
namespace c44 { template <typename T> struct S { enum E { A, B }; E e; }; int f() { S<int> s; s.e = S<int>::A; return s.e; } }
namespace c45 { template <typename T> struct S { struct In { T t; }; In in; }; int f() { S<int> s; s.in.t = 1; S<int>::In i; return i.t; } }
namespace c46 { template <typename T> void f(typename T::in t) {} struct Q { typedef int in; }; void g() { f<Q>(1); } }
namespace c48 { template <bool B> struct E {}; template <> struct E<true> { typedef int type; }; template <typename T, typename = typename E<sizeof(T) == 4>::type> int f(T) { return 1; } int g() { return f(1); } }
namespace c50 { struct S { int a : 3, b : 5; uint c : 4; }; int f() { S s = {1, 2, 3}; return s.a + s.b; } }
namespace c52 { struct S { enum E { X, Y } e; }; int f() { S s; s.e = S::X; return s.e; } }
namespace c53 { struct S { enum class E { X, Y } e; }; int f() { S s; s.e = S::E::X; return (int)s.e; } }
namespace c55 { typedef struct { int a; } T; int f() { T t = {1}; return t.a; } }
namespace c56 { typedef enum { A, B } T; int f() { T t = A; return t; } }
namespace c58 { struct S { int a; static int f() { S s; return s.a; } }; }
namespace c59 { struct S { int f(); int g() { return f(); } }; int S::f() { return 1; } }
namespace c60 { struct S { struct T; thread T *t; }; struct S::T { int a; }; int f(S s) { return s.t->a; } }
namespace c61 { namespace n { struct S { void f(); }; } void n::S::f() {} }
namespace c62 { namespace n { void f(); } void n::f() {} }
namespace c64 { namespace n { int f(int); } using n::f; int g() { return f(1); } int f(float); }
namespace c68 { void f() { return; return; } }
namespace c69 { void f() { { { } } } }
namespace c70 { void f() { int i = 0; while (i < 3) i++; do i--; while (i > 0); for (; i < 3; ) i++; } }
namespace c71 { int f(int x) { switch (x) { case 0: return 1; default: return 2; } } }
namespace c72 { int f(int x) { switch (x) { } return 1; } }
namespace c73 { int f(int x) { switch (x) case 1: return 2; return 1; } }
namespace c74 { int f(int x) { if (int y = x; y > 1) return y; return 0; } }
namespace c75 { int f(int x) { switch (int y = x; y) { case 1: return y; } return 0; } }
namespace c76 { int f(int x) { if (x) int y = 2; else int y = 3; return 1; } }
namespace c77 { int f(bool b) { return b ? 1 : b ? 2 : 3; } }
namespace c79 { int f(int a) { return -a + ~a + !a; } }
namespace c80 { int f(int a) { return a, 1; } }
namespace c81 { int f(int a) { return (int)(float)a; } }
namespace c83 { int f(thread int *a) { return reinterpret_cast<long>(a); } }
namespace c84 { thread int *f(long a) { return reinterpret_cast<thread int *>(a); } }
namespace c87 { int f(const thread int &a) { return const_cast<thread int &>(a)++; } }
namespace c88 { enum class E { A }; E f(int a) { return static_cast<E>(a); } }
namespace c92 { struct S { int a; bool operator==(const thread S &o) const { return a == o.a; } }; bool f(S a, S b) { return a == b && !(a == b); } }
namespace c94 { struct S { int x; constexpr S(int a) : x(a) {} constexpr S(const thread S &o) : x(o.x + 1) {} }; struct W { S s; int y; }; constexpr int f() { W a{S(1), 2}; W b = a; return b.s.x * 10 + b.y; } static_assert(f() == 22, ""); }
namespace c95 { struct B { int x; constexpr B(int a) : x(a) {} constexpr B(const thread B &o) : x(o.x + 1) {} }; struct D : B { constexpr D(int a) : B(a) {} }; constexpr int f() { D a(1); D b = a; return b.x; } static_assert(f() == 2, ""); }
