// test check
// options: --std metal4.0
// Classes and initialization: accepted, as by clang.
namespace c1 { class C { int a; public: int b; }; void f() { C c; c.b = 1; } }
namespace c4 { class C { protected: int a; }; class D : public C { int g() { return a; } }; }
namespace c8 { class C { protected: int a; }; class D : public C { int g(thread D &c) { return c.a; } }; }
namespace c10 { class C { public: int a; }; class D : C { public: using C::a; }; void f() { D d; d.a = 1; } }
namespace c14 { class C { public: explicit C(int) {} }; void f() { C c(1); C d{2}; C e = C(3); } }
namespace c19 { class C { public: C(int) {} }; C f() { return 1; } }
namespace c23 { class C { public: C(int) {} }; void f() { C c[2] = {1, 2}; (void)c; } }
namespace c26 { class C { public: C(int) {} }; struct D { C c; D() : c(1) {} }; }
namespace c28 { class C { public: C(int) {} }; struct D : C { D() : C(1) {} }; }
namespace c35 { struct D { int a; D(int x) : a{x} {} D() : D(1) {} }; }
namespace c37 { struct D { D() = default; D(int) {} }; void f() { D d; D e(1); } }
namespace c45 { struct D { int x = 1; int y = x; }; }
namespace c48 { struct D { int : 0; int y : 3; }; }
namespace c54 { struct D { static constant int x = 3; static constexpr constant int y = 4; }; int f() { return D::x + D::y; } }
namespace c55 { struct D { int a; int f() { return b; } int b; }; }
namespace c56 { struct D { D(); }; D::D() {} }
namespace c59 { struct A { int x; }; struct B { int x; }; struct C : A, B {}; int f() { C c; return c.A::x; } }
namespace c61 { struct A { void f(int); }; struct B : A { void f(float); }; void g() { B b; b.f(1); } }
namespace c63 { struct A { void f(int); }; struct B : A { using A::f; void f(); }; void g() { B b; b.f(1); b.f(); } }
namespace c64 { struct A {}; struct B : A {}; void f() { B b; A a = b; thread A &r = b; thread A *p = &b; } }
namespace c67 { struct A {}; struct B : A {}; void f() { A a; thread B *p = static_cast<thread B *>(&a); (void)p; } }
namespace c76 { struct A { int operator()(int x) { return x; } }; int f() { A a; return a(1); } }
namespace c78 { struct A { int operator[](int x) { return x; } }; int f() { A a; return a[1]; } }
namespace c81 { struct A { A operator+() { return *this; } }; void f() { A a; +a; } }
namespace c89 { struct A { int x; friend int g(A a) { return a.x; } }; int f() { A a; return g(a); } }
namespace c91 { class A { int x; friend class B; }; class B { int f(A a) { return a.x; } }; }
namespace c92 { class A { int x; class B { int f(A a) { return a.x; } }; }; }
namespace c97 { struct A { int f() const; }; int A::f() const { return 1; } }
namespace c101 { struct A { void f() const & {} void f() && {} }; }
namespace c103 { struct A { int a; int b; }; void f() { A a = {1}; A b{1, 2}; A c{}; A d = A{1, 2}; } }
namespace c108 { struct A { int a; int b; }; void f() { A a = {.a = 1, .b = 2}; } }
namespace c110 { struct A { int a; int b; }; void f() { A a = {.a = 1, .a = 2}; } }
namespace c111 { struct A { int a; int b; }; void f() { A a = {.b = 1, .a = 2}; } }
namespace c112 { struct A { int a; int b; }; void f() { A a = {.b = 1}; A b = {1, .b = 2}; } }
namespace c113 { void f() { int a[3] = {[0] = 1, [2] = 3}; (void)a; } }
namespace c115 { void f() { int a[4] = {[0 ... 2] = 1}; (void)a; } }
namespace c116 { struct A { int a; int b; }; void f() { A a = (A){1, 2}; (void)a; } }
namespace c123 { void f() { float x{1}; half h{1}; uchar c{255}; } }
namespace c128 { void f(short y) { int c{y}; (void)c; } }
namespace c129 { void f(uint y) { long c{y}; (void)c; } }
namespace c140 { void f() { bool b{1}; bool c{0}; } }
namespace c143 { void f() { int x{}; int y = {}; int z = int{}; (void)x; } }
namespace c146 { void f() { int x = int(); (void)x; } }
namespace c147 { struct S { S(int, int) {} }; void f() { S s = {1, 2}; S t = S{1, 2}; S u({1, 2}); } }
namespace c149 { struct S { S(int, int) {} }; S f() { return {1, 2}; } void g(S) {} void h() { g({1, 2}); } }
namespace c150 { struct S { int a; struct { int b, c; }; }; int f() { S s; s.b = 1; return s.c; } }
namespace c151 { struct S { union { int a; float b; }; }; float f() { S s; s.a = 1; return s.b; } }
namespace c153 { struct S { int a[0]; }; }
namespace c154 { struct S { int n; int a[]; }; }
namespace c158 { struct S { int a = 1, b = 2; int c{3}; }; int f() { S s; return s.c; } }
namespace c162 { struct S { int g() { return h(); } int h() { return 1; } }; }
namespace c163 { struct S { public: int a; private: int b; protected: int c; }; }
namespace c165 { struct S { int f() const const; }; }
namespace c178 { struct S { template <typename T> T g(T t) { return t; } }; int f() { S s; return s.g(1) + s.g<int>(1); } }
namespace c180 { void f() { struct S { int g() { return 1; } }; S s; s.g(); } }
namespace c182 { void f() { int g(int); g(1); } }
namespace c187 { namespace N { int x(); } void f() { using namespace N; x(); using N::x; x(); } }
namespace c191 { namespace A { struct T {}; void g(T) {} } void f() { A::T t; g(t); } }
namespace c192 { namespace A { namespace { int h() { return 1; } } } int f() { return A::h(); } }
namespace c193 { inline namespace A { int h() { return 1; } } int f() { return h() + A::h(); } }
namespace c194 { namespace A::B { int h() { return 1; } } int f() { return A::B::h(); } }
namespace c202 { extern constant int x; }
namespace c204 { constant thread int x = 1; }
namespace c211 { static_assert(1 == 1); }
namespace c212 { static_assert(1, "a" "b"); }
namespace c214 { struct S { static_assert(sizeof(int) == 4, ""); }; }
namespace c215 { static_assert(sizeof(int)); }
namespace c216 { static_assert("a", "b"); }
namespace c219 { template <typename T> void f() { static_assert(sizeof(T) == 1, "x"); } void g() { f<char>(); } }
