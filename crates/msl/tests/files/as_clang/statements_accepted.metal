// test check
// options: --std metal4.0
// Statements and expressions: accepted, as by clang.
namespace c6 { void f(uchar x) { switch (x) { case 256: break; case 0: break; } } }
namespace c8 { void f(int x) { switch (x) { case 3 ... 1: break; } } }
namespace c19 { void f(int x) { switch (x) { case 1: int y; break; case 2: y = 1; break; } } }
namespace c20 { void f(int x) { switch (x) { case 1: { int y = 2; break; } case 2: break; } } }
namespace c22 { struct S { int a; }; void f(int x) { switch (x) { case 1: S s; break; case 2: break; } } }
namespace c23 { int f() { } }
namespace c24 { int f(int x) { if (x) return 1; } }
namespace c27 { void g(); void f() { return g(); } }
namespace c28 { void f() { return (void)0; } }
namespace c30 { struct S { S() { return; } }; }
namespace c33 { struct S { explicit operator bool() const { return true; } }; void f() { S s; if (s) {} while (s) {} bool b = !s; (void)b; } }
namespace c36 { struct S { operator int() const { return 1; } }; void f() { S s; switch (s) { case 1: break; } } }
namespace c37 { void f() { for (int i = 0, j = 1; i < j; i++, j--) {} } }
namespace c38 { void f() { for (;;) { break; } } }
namespace c39 { void f() { for (int i = 0; int j = 3 - i; i++) { (void)j; } } }
namespace c41 { void f() { int a[3] = {1, 2, 3}; for (int x : a) {} for (thread auto &x : a) x = 1; } }
namespace c52 { void f() { ; ; { } } }
namespace c56 { void f() { int x = x; (void)x; } }
namespace c62 { void f() { int x = 1; thread int &r = x; r = 2; } }
namespace c68 { void f() { const thread int &r = 1; (void)r; } }
namespace c70 { void f(const thread int *p) { p = p + 1; } }
namespace c72 { void f(thread int *const p) { *p = 1; } }
namespace c74 { void f(const thread int *p) { thread int *q = (thread int *)p; (void)q; } }
namespace c75 { void f(const thread int *p) { thread int *q = const_cast<thread int *>(p); (void)q; } }
namespace c80 { void f(thread int *p) { thread void *q = p; thread int *r = static_cast<thread int *>(q); (void)r; } }
namespace c85 { void f(thread int *p) { p = 0; p = nullptr; } }
namespace c88 { void f(thread int *p, thread int *q) { long d = p - q; (void)d; } }
namespace c92 { void f(thread int *p) { bool b = p == 0; b = p == nullptr; b = p != 0; } }
namespace c112 { void f(float x) { !x; -x; +x; } }
namespace c116 { struct S {}; void f(S s) { s = s; } }
namespace c121 { struct S { const int a = 1; }; void f() { S s; (void)s; } }
namespace c127 { struct S { mutable int a; void g() const { a = 1; } }; }
namespace c133 { struct S { int a; static void g(); }; void f() { S::g(); S s; s.g(); } }
namespace c135 { struct S { int a; }; int f() { return sizeof(S::a); } }
namespace c139 { void f() { int a[2][2] = {1, 2, 3, 4}; (void)a; } }
namespace c141 { void f() { int a[] = {1, 2}; static_assert(sizeof(a) == 8, ""); } }
namespace c143 { void f() { int a[0]; (void)a; } }
namespace c146 { void f() { const int n = 3; int a[n]; (void)a; } }
namespace c150 { void f() { int a[3]; thread int (&r)[3] = a; r[0] = 1; } }
namespace c153 { void x(void) {} }
namespace c157 { int f(int, int = 2) { return 1; } int g() { return f(1) + f(1, 2); } }
namespace c160 { int f(thread int *) { return 1; } int g() { int x; return f(&x); } }
namespace c166 { int f(int); int f(bool); int g() { return f('a'); } }
namespace c180 { void f() {} void g() { true ? f() : f(); } }
namespace c185 { void g(thread int *p) { true ? p : 0; true ? nullptr : p; } }
namespace c187 { void g(int a, int b) { (true ? a : b) = 1; } }
namespace c189 { void g(int a, int b) { (a, b) = 1; } }
namespace c190 { void g(int a, int b) { ++a = 1; } }
namespace c192 { void g(int a, int b) { ++(++a); (a += 1) += 2; } }
namespace c202 { struct S; void g(S s); }
namespace c206 { struct S { thread S *s; }; }
