// test check
// options: --std metal4.0
// Bases, copies, default arguments and conversions: refused, as by clang.
namespace c14 { int f(int y) { struct S { static int g() { return y; } }; return S::g(); } }  // error: reference to local variable 'y' declared in enclosing function
namespace c17 { void f() { const int x = 0; auto l = [&x] { x++; }; l(); } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c22 { struct S { int a; explicit S() {} }; void f() { S s = {}; } }  // error: chosen constructor is explicit in copy-initialization
namespace c23 { struct S { int a; explicit S() {} }; void g(S) {} void f() { g({}); } }  // error: no matching function for call to 'g'
namespace c24 { struct A { A(int) {} }; struct B { B(A) {} }; void f() { B b = 1; } }  // error: no viable conversion from 'int' to 'B'
namespace c26 { struct A { operator int() const { return 1; } }; struct B { B(int) {} }; void f() { A a; B b = a; } }  // error: no viable conversion from 'A' to 'B'
namespace c27 { struct A { operator int() const { return 1; } operator float() const { return 1; } }; void f() { A a; half h = a; } }  // error: conversion from 'A' to 'half' is ambiguous
namespace c37 { int f(int x = "a") { return x; } }  // error: cannot initialize a parameter of type 'int' with an lvalue of type 'const constant char [2]'
namespace c40 { template <typename T> int f(T x = 1) { return x; } int g() { return f(); } }  // error: no matching function for call to 'f'
namespace c47 { template <typename T> void f(typename T::in t) {} struct Q { typedef int in; }; void g() { f(1); } }  // error: no matching function for call to 'f'
namespace c49 { template <bool B> struct E {}; template <> struct E<true> { typedef int type; }; template <typename T, typename = typename E<sizeof(T) == 4>::type> int f(T) { return 1; } int g() { return f('a'); } }  // error: no matching function for call to 'f'
namespace c63 { namespace n { void f(); } void n::g() {} }  // error: out-of-line definition of 'g' does not match any declaration in namespace 'n'
namespace c66 { using namespace undefined_ns; }  // error: expected namespace name, found 'undefined_ns'
namespace c82 { int f(float a) { return reinterpret_cast<int>(a); } }  // error: reinterpret_cast from 'float' to 'int' is not allowed
namespace c85 { thread int *f(long a) { return static_cast<thread int *>(a); } }  // error: static_cast from 'long' to 'thread int *' is not allowed
namespace c86 { int f(float a) { return const_cast<int>(a); } }  // error: const_cast to 'int', which is not a reference or pointer
namespace c89 { struct S {}; int f(S a) { return (int)a; } }  // error: C-style cast from 'S' to 'int' is not allowed
namespace c90 { struct S {}; S f(int a) { return (S)a; } }  // error: no matching constructor for initialization of 'S'
namespace c91 { struct S { int a; }; bool f(S a, S b) { return a < b; } }  // error: invalid operands to binary expression ('S' and 'S')
namespace c93 { struct S { int a; bool operator==(const thread S &o) const { return a == o.a; } }; bool f(S a, S b) { return a != b; } }  // error: invalid operands to binary expression ('S' and 'S')
namespace c96 { struct S { S(const thread S &) = delete; S() {} }; struct W { S s; }; void f() { W a; W b = a; } }  // error: call to deleted constructor of 'S'
