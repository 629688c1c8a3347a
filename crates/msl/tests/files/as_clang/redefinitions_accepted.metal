// test check
// options: --std metal4.0
// Names that are declared twice: accepted, as by clang.
namespace c7 { void f(int x) { { int x = 1; (void)x; } } }
namespace c8 { void f(int x) { for (int x = 0; x < 3; x++) {} } }
namespace c17 { void f() { switch (int i = 3) { case 1: { int i; } } } }
namespace c25 { struct S { int f() { return 1; } int f() const { return 2; } }; }
namespace c26 { struct S { int f(int); int f(float); }; }
namespace c28 { struct S { struct T {}; int T; }; }
namespace c36 { enum class E { A }; enum class F { A }; }
namespace c39 { struct S; struct S {}; struct S; }
namespace c40 { typedef int T; typedef int T; }
namespace c46 { int f(); int f(); int f() { return 1; } }
namespace c48 { int f(int); int f(const int) { return 1; } }
namespace c50 { int f(int a = 1); int f(int a) { return a; } }
namespace c68 { void f() { struct S { int a; }; S S; S.a = 1; } }
namespace c73 { namespace N { int f(); } namespace N { int f() { return 1; } } }
namespace c75 { namespace A { int x(); } namespace B = A; namespace B = A; }
namespace c88 { struct S { S(int) {} S(float) {} }; }
namespace c92 { struct S { int S; }; }
namespace c103 { void f() { int x = 1; auto l = [x]() { int x = 2; return x; }; l(); } }
namespace c110 { struct S { int x; void f() { int x = 2; (void)x; } }; }
namespace c111 { struct A { int x; }; struct B : A { int x; }; int f() { B b; b.x = 1; b.A::x = 2; return b.x; } }
namespace c112 { enum E : int; enum E : int { A }; }
namespace c114 { enum class E; enum class E { A }; }
namespace c121 { static int f(); int f() { return 1; } }
namespace c123 { inline int f(); int f() { return 1; } }
namespace c130 { typedef struct A {} A; }
namespace c131 { struct A {}; typedef struct A A; A a(); }
namespace c133 { struct A {}; int A(int); int f() { return A(1); } }
namespace c134 { void f() { int f = 1; (void)f; } }
namespace c136 { class C; struct C {}; }
