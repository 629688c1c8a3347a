// test check
// options: --std metal4.0
// Names that are declared twice: refused, as by clang.
namespace c0 { int f(int x, int x) { return x; } }  // error: redefinition of parameter 'x'
namespace c1 { int f(int x, float x); }  // error: redefinition of parameter 'x'
namespace c2 { template <typename T> T f(T x, T x) { return x; } }  // error: redefinition of parameter 'x'
namespace c3 { struct S { int f(int a, int a) { return a; } }; }  // error: redefinition of parameter 'a'
namespace c4 { struct S { S(int a, int a) {} }; }  // error: redefinition of parameter 'a'
namespace c5 { void g() { auto l = [](int a, int a) { return a; }; l(1, 2); } }  // error: redefinition of parameter 'a'
namespace c6 { void f(int x) { int x = 1; } }  // error: redefinition of 'x'
namespace c9 { void f() { int a; float a; } }  // error: redefinition of 'a'
namespace c10 { void f() { int a, a; } }  // error: redefinition of 'a'
namespace c11 { void f() { for (int i = 0; i < 3; i++) { int i = 2; (void)i; } } }  // error: redefinition of 'i'
namespace c12 { void f() { for (int i = 0; i < 3; i++) int i = 2; } }  // error: redefinition of 'i'
namespace c13 { void f() { if (int i = 3) { int i = 2; (void)i; } } }  // error: redefinition of 'i'
namespace c14 { void f() { if (int i = 3) {} else { int i = 2; (void)i; } } }  // error: redefinition of 'i'
namespace c15 { void f() { while (int i = 3) { int i = 2; (void)i; } } }  // error: redefinition of 'i'
namespace c16 { void f() { switch (int i = 3) { case 1: int i; } } }  // error: redefinition of 'i'
namespace c18 { struct S { int a; int a; }; }  // error: duplicate member 'a'
namespace c19 { struct S { int a; float a; }; }  // error: duplicate member 'a'
namespace c20 { struct S { int a; int a() { return 1; } }; }  // error: redefinition of 'a'
namespace c21 { struct S { int a() { return 1; } int a; }; }  // error: duplicate member 'a'
namespace c22 { struct S { int f() { return 1; } int f() { return 2; } }; }  // error: redefinition of 'f'
namespace c23 { struct S { int f(); int f(); }; }  // error: class member cannot be redeclared
namespace c24 { struct S { int f(); float f(); }; }  // error: functions that differ only in their return type cannot be overloaded
namespace c27 { struct S { static int f(int); int f(int); }; }  // error: static and non-static member functions with the same parameter types cannot be overloaded
namespace c29 { struct S { typedef int T; typedef int T; }; }  // error: redefinition of 'T'
namespace c30 { struct S { using T = int; using T = float; }; }  // error: redefinition of 'T'
namespace c31 { struct S { enum { A }; enum { A }; }; }  // error: redefinition of 'A'
namespace c32 { struct S { int A; enum { A }; }; }  // error: redefinition of 'A'
namespace c33 { enum E { A, A }; }  // error: redefinition of 'A'
namespace c34 { enum class E { A, A }; }  // error: redefinition of enumerator 'A'
namespace c35 { enum E { A }; enum F { A }; }  // error: redefinition of 'A'
namespace c37 { enum E { A }; enum E { B }; }  // error: redefinition of 'E'
namespace c38 { struct S {}; struct S {}; }  // error: redefinition of 'S'
namespace c41 { typedef int T; typedef float T; }  // error: typedef redefinition with different types ('float' vs 'int')
namespace c42 { using T = int; using T = float; }  // error: typedef redefinition with different types ('float' vs 'int')
namespace c43 { constant int x = 1; constant int x = 2; }  // error: redefinition of 'x'
namespace c44 { constant int x = 1; constant float x = 2; }  // error: redefinition of 'x'
namespace c45 { int f() { return 1; } int f() { return 2; } }  // error: redefinition of 'f'
namespace c47 { int f(); float f(); }  // error: functions that differ only in their return type cannot be overloaded
namespace c49 { int f(int a = 1); int f(int a = 2) { return a; } }  // error: redefinition of default argument
namespace c51 { int f(int a = 1, int b) { return a; } }  // error: missing default argument on parameter
namespace c53 { template <typename T, typename T> void f() {} }  // error: redefinition of 'T'
namespace c54 { template <int N, int N> void f() {} }  // error: redefinition of 'N'
namespace c55 { template <typename T, int T> struct S {}; }  // error: redefinition of 'T'
namespace c56 { template <typename T> void f() { int T = 3; } }  // error: declaration of 'T' shadows template parameter
namespace c57 { template <typename T> void f(int T) {} }  // error: declaration of 'T' shadows template parameter
namespace c58 { template <typename T> struct S { int T; }; }  // error: declaration of 'T' shadows template parameter
namespace c59 { template <typename T> struct S { typedef int T; }; }  // error: declaration of 'T' shadows template parameter
namespace c60 { template <typename T> struct S {}; template <typename T> struct S {}; }  // error: redefinition of 'S'
namespace c61 { template <typename T> struct S {}; template <> struct S<int> {}; template <> struct S<int> {}; }  // error: redefinition of 'S<int>'
namespace c62 { template <typename T> void f(T) {} template <typename T> void f(T) {} }  // error: redefinition of 'f'
namespace c63 { template <typename T> void f(T) {} template <> void f(int) {} template <> void f(int) {} }  // error: redefinition of 'f<int>'
namespace c64 { template <typename T = int> struct S; template <typename T = int> struct S {}; }  // error: template parameter redefines default argument
namespace c65 { template <typename T> struct S; template <int N> struct S {}; }  // error: template parameter has a different kind in template redeclaration
namespace c66 { template <typename T> struct S; struct S {}; }  // error: redefinition of 'S'
namespace c67 { void f() { struct S {}; struct S {}; } }  // error: redefinition of 'S'
namespace c69 { void f() { typedef int T; typedef float T; } }  // error: typedef redefinition with different types ('float' vs 'int')
namespace c70 { void f() { enum { A }; int A; } }  // error: redefinition of 'A'
namespace c71 { namespace N { int f(); } int N; }  // error: program scope variable must reside in constant address space
namespace c72 { int N(); namespace N { } }  // error: redefinition of 'N' as different kind of symbol
namespace c74 { namespace N { int f() { return 1; } } namespace N { int f() { return 1; } } }  // error: redefinition of 'f'
namespace c76 { namespace A { } namespace C { } namespace B = A; namespace B = C; }  // error: redefinition of 'B' as an alias for a different namespace
namespace c77 { void f() { int x; extern int x; } }  // error: redefinition of 'x'
namespace c78 { void f() { int a[2]; int a[3]; } }  // error: redefinition of 'a'
namespace c80 { struct S { int f; }; int S::f() { return 1; } }  // error: out-of-line definition of 'f' does not match any declaration in 'S'
namespace c81 { struct S { int f(); }; int S::f() { return 1; } int S::f() { return 1; } }  // error: redefinition of 'f'
namespace c82 { struct S { int f(); }; int S::g() { return 1; } }  // error: out-of-line definition of 'g' does not match any declaration in 'S'
namespace c83 { struct S { int f(); }; float S::f() { return 1; } }  // error: return type of out-of-line definition of 'S::f' differs from that in the declaration
namespace c84 { struct S { int f(); }; int S::f() const { return 1; } }  // error: out-of-line definition of 'f' does not match any declaration in 'S'
namespace c85 { struct S { int f(int a = 1); }; int S::f(int a = 2) { return 1; } }  // error: redefinition of default argument
namespace c86 { struct S { static int f(); }; static int S::f() { return 1; } }  // error: 'static' can only be specified inside the class definition
namespace c87 { struct S { S() {} S() {} }; }  // error: constructor cannot be redeclared
namespace c89 { struct S { operator int() { return 1; } operator int() { return 1; } }; }  // error: conversion function cannot be redeclared
namespace c90 { struct S { int operator+(int) { return 1; } int operator+(int) { return 1; } }; }  // error: redefinition of 'operator+'
namespace c91 { struct B {}; struct S : B, B {}; }  // error: base class 'B' specified more than once as a direct base class
namespace c93 { struct S { int S() { return 1; } }; }  // error: constructor cannot have a return type
namespace c94 { struct S { void S(); }; }  // error: constructor cannot have a return type
namespace c95 { struct S { using X = int; int X; }; }  // error: duplicate member 'X'
namespace c96 { void f() { auto [a, a] = (float2){1, 2}; } }  // error: redefinition of 'a'
namespace c97 { struct P { int x, y; }; void f() { P p{}; auto [a, a] = p; } }  // error: redefinition of 'a'
namespace c98 { struct P { int x, y; }; void f() { P p{}; int a; auto [a, b] = p; } }  // error: redefinition of 'a'
namespace c99 { struct P { int x, y; }; void f() { P p{}; auto [a, b, c] = p; } }  // error: type 'P' decomposes into 2 elements, but 3 names were provided
namespace c100 { struct P { int x, y; }; void f() { P p{}; auto [a] = p; } }  // error: type 'P' decomposes into 2 elements, but 1 name was provided
namespace c101 { void f() { int x; auto l = [x, x]() { return x; }; } }  // error: 'x' can appear only once in a capture list
namespace c102 { void f() { int x = 1; auto l = [x](int x) { return x; }; } }  // error: a lambda parameter cannot shadow an explicitly captured entity
namespace c104 { void f() { auto l = [&, &](){}; } }  // error: expected variable name or 'this' in lambda capture list
namespace c105 { void f() { int x = 1; auto l = [=, x](){}; } }  // error: '&' must precede a capture when the capture default is '='
namespace c106 { void f() { int x = 1; auto l = [&, &x](){}; } }  // error: '&' cannot precede a capture when the capture default is '&'
namespace c107 { void f() { int x = 1; auto l = [y = x, y = 2](){}; } }  // error: 'y' can appear only once in a capture list
namespace c109 { int f(int); int f(int, int = 2); int g() { return f(1); } }  // error: call to 'f' is ambiguous
namespace c113 { enum E : int; enum E : short { A }; }  // error: enumeration redeclared with different underlying type 'short' (was 'int')
