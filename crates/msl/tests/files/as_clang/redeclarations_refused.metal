// test check
// options: --std metal4.0
// Dependent types, instantiations, lambdas as pointers, default arguments: refused, as by clang.
#include <metal_stdlib>
using namespace metal;
namespace c68 { template <typename T> T f(T t) { return t; } template int f<int>(int); template int f<int>(int); }  // error: duplicate explicit instantiation of 'c68::f<int>'
namespace c69 { template <typename T> T f(T t) { return t; } template int f<int>(int); template int f(int); }  // error: duplicate explicit instantiation of 'c69::f<int>'
namespace c70 { template <typename T> struct S {}; template struct S<int>; template struct S<int>; }  // error: duplicate explicit instantiation of 'S<int>'
namespace c75 { struct S { void g() override; }; }  // error: only virtual member functions can be marked 'override'
namespace c76 { struct S { void g() final; }; }  // error: only virtual member functions can be marked 'final'
namespace c77 { struct S { void g() const override {} }; }  // error: only virtual member functions can be marked 'override'
namespace c78 { struct A { void g(); }; struct B : A { void g() override {} }; }  // error: only virtual member functions can be marked 'override'
namespace c80 { void f() override; }  // error: 'override' specifier is not allowed outside a class definition
namespace c82 { struct S { void g() override final; }; }  // error: only virtual member functions can be marked 'override'  // error: only virtual member functions can be marked 'final'
namespace c90 { void f(int y) { int (*p)(int) = [y](int x) { return x + y; }; p(1); } }  // error: no viable conversion from '(lambda)' to 'int (*)(int)'
namespace c91 { void f() { int (*p)(float) = [](int x) { return x; }; } }  // error: no viable conversion from '(lambda)' to 'int (*)(float)'
namespace c99 { int f(int a = 1, int b); }  // error: missing default argument on parameter 'b'
namespace c100 { int f(int a, int b = 2); int f(int a, int b = 2) { return a; } }  // error: redefinition of default argument
namespace c102 { int f(int a); int g() { return f(); } int f(int a = 1) { return a; } }  // error: no matching function for call to 'f'
namespace c106 { template <typename T> T f(T a, T b); template <typename T> T f(T a, T b = 2) { return a + b; } }  // error: default arguments cannot be added to a function template that has already been declared
