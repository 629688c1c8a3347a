// test check
// options: --std metal4.0
// Statements and expressions: refused, as by clang.
namespace c0 { void f(int x) { switch (x) { case 1: break; case 1: break; } } }  // error: duplicate case value '1'
namespace c1 { void f(int x) { switch (x) { case 1: break; case 2 - 1: break; } } }  // error: duplicate case value '1'
namespace c2 { void f(int x) { switch (x) { default: break; default: break; } } }  // error: multiple default labels in one switch
namespace c3 { enum E { A, B }; void f(E x) { switch (x) { case A: break; case A: break; } } }  // error: duplicate case value '0'
namespace c5 { enum class E { A, B }; void f(E x) { switch (x) { case 0: break; } } }  // error: cannot initialize a variable of type 'E' with an rvalue of type 'int'
namespace c7 { void f(int x) { switch (x) { case 1 ... 3: break; case 2: break; } } }  // error: duplicate case value '2'
namespace c9 { void f(int x, int y) { switch (x) { case y: break; } } }  // error: case value is not a constant expression
namespace c10 { void f(float x) { switch (x) { case 1: break; } } }  // error: statement requires expression of integer type ('float' invalid)
namespace c11 { void f(int x) { switch (x) { case 1.5f: break; } } }  // error: conversion from 'float' to 'int' is not allowed in a converted constant expression
namespace c13 { void f() { default: ; } }  // error: 'default' statement not in switch statement
namespace c14 { void f() { break; } }  // error: 'break' statement not in loop or switch statement
namespace c15 { void f() { continue; } }  // error: 'continue' statement not in loop statement
namespace c16 { void f(int x) { switch (x) { case 1: continue; } } }  // error: 'continue' statement not in loop statement
namespace c17 { void f(int x) { if (x) break; } }  // error: 'break' statement not in loop or switch statement
namespace c18 { void f(int x) { switch (x) { case 1: int y = 2; break; case 2: break; } } }  // error: cannot jump from switch statement to this case label
namespace c21 { struct S { S() {} }; void f(int x) { switch (x) { case 1: S s; break; case 2: break; } } }  // error: cannot jump from switch statement to this case label
namespace c25 { int f() { return; } }  // error: non-void function should return a value
namespace c26 { void f() { return 1; } }  // error: void function should not return a value
namespace c29 { struct S { S() { return 1; } }; }  // error: void function should not return a value
namespace c31 { struct S {}; int f() { S s; return s; } }  // error: no viable conversion from 'S' to 'int'
namespace c32 { struct S {}; void f() { S s; if (s) {} } }  // error: value of type 'S' is not contextually convertible to 'bool'
namespace c34 { struct S { explicit operator bool() const { return true; } }; void f() { S s; bool b = s; } }  // error: no viable conversion from 'S' to 'bool'
namespace c42 { void f() { int a = 3; for (int x : a) {} } }  // error: invalid range expression of type 'int'
namespace c43 { void f(thread int *a) { for (int x : a) {} } }  // error: invalid range expression of type 'thread int *'
namespace c44 { void f(int a[3]) { for (int x : a) {} } }  // error: invalid range expression of type 'thread int *'
namespace c45 { void f() { int x = 1 int y = 2; } }  // error: expected ';' at end of declaration
namespace c46 { void f() { int x = 1; x +; } }  // error: expected expression
namespace c47 { void f() { int x = (1; } }  // error: expected ')'
namespace c48 { void f() { if 1 { } } }  // error: expected '(' after 'if'
namespace c49 { void f() { else { } } }  // error: expected expression
namespace c50 { void f() { while () {} } }  // error: expected expression
namespace c51 { void f() { for (int i = 0; i < 3) {} } }  // error: expected ';' in 'for' statement specifier
namespace c53 { void f() { int x; { x = 1; } } } }  // error: extraneous closing brace ('}')
namespace c54 { void f() { 1 = 2; } }  // error: expression is not assignable
namespace c57 { void f() { const int x; } }  // error: default initialization of an object of const type 'const int'
namespace c58 { void f() { const int x = 1; x = 2; } }  // error: cannot assign to variable 'x' with const-qualified type 'const int'
namespace c59 { void f() { const int x = 1; x++; } }  // error: cannot assign to variable 'x' with const-qualified type 'const int'
namespace c60 { void f() { const int x = 1; x += 2; } }  // error: cannot assign to variable 'x' with const-qualified type 'const int'
namespace c61 { void f() { int x = 1; const thread int &r = x; r = 2; } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c63 { void f() { const int x = 1; thread int &r = x; } }  // error: reference of type 'thread int &' cannot bind to an lvalue of type 'const int'
namespace c64 { void f() { thread int &r = 1; } }  // error: non-const lvalue reference to type 'thread int &' cannot bind to a temporary of type 'int'
namespace c65 { void f() { thread int &r; } }  // error: declaration of reference variable 'r' requires an initializer
namespace c66 { void f() { thread int &r = 1.5f; } }  // error: non-const lvalue reference to type 'thread int &' cannot bind to a temporary of type 'float'
namespace c67 { void f() { float y = 1; thread int &r = y; } }  // error: reference of type 'thread int &' cannot bind to an lvalue of type 'float'
namespace c69 { void f(const thread int *p) { *p = 1; } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c71 { void f(thread int *const p) { p = p + 1; } }  // error: cannot assign to variable 'p' with const-qualified type 'thread int * const '
namespace c73 { void f(const thread int *p) { thread int *q = p; } }  // error: cannot initialize a variable of type 'thread int *' with an lvalue of type 'const thread int *'
namespace c76 { void f(const thread int *p) { thread int *q = static_cast<thread int *>(p); (void)q; } }  // error: static_cast from 'const thread int *' to 'thread int *' is not allowed
namespace c77 { void f(const thread int *p) { thread float *q = reinterpret_cast<thread float *>(p); (void)q; } }  // error: reinterpret_cast from 'const thread int *' to 'thread float *' is not allowed
namespace c78 { void f(thread int *p) { thread float *q = p; } }  // error: cannot initialize a variable of type 'thread float *' with an lvalue of type 'thread int *'
namespace c79 { void f(thread int *p) { thread float *q = static_cast<thread float *>(p); } }  // error: static_cast from 'thread int *' to 'thread float *' is not allowed
namespace c81 { void f(thread int *p) { thread void *q = p; thread int *r = q; } }  // error: cannot initialize a variable of type 'thread int *' with an lvalue of type 'thread void *'
namespace c82 { void f(thread int *p) { p[1.5f] = 1; } }  // error: array subscript is not an integer
namespace c83 { void f(thread int *p) { int x = p; } }  // error: cannot initialize a variable of type 'int' with an lvalue of type 'thread int *'
namespace c84 { void f(thread int *p) { p = 1; } }  // error: assigning to 'thread int *' from incompatible type 'int'
namespace c86 { void f(thread int *p) { p * 2; } }  // error: invalid operands to binary expression ('thread int *' and 'int')
namespace c87 { void f(thread int *p, thread int *q) { p + q; } }  // error: invalid operands to binary expression ('thread int *' and 'thread int *')
namespace c89 { void f(thread int *p, thread float *q) { long d = p - q; (void)d; } }  // error: invalid operands to binary expression ('thread int *' and 'thread float *')
namespace c90 { void f(thread int *p, thread float *q) { bool b = p == q; } }  // error: invalid operands to binary expression ('thread int *' and 'thread float *')
namespace c91 { void f(thread int *p) { bool b = p == 1; } }  // error: invalid operands to binary expression ('thread int *' and 'int')
namespace c93 { void f(thread int *p) { bool b = p < 0; } }  // error: ordered comparison between pointer and zero ('thread int *' and 'int')
namespace c94 { void f(thread void *p) { *p; } }  // error: ISO C++ does not allow indirection on operand of type 'void *'
namespace c95 { void f(thread void *p) { p++; } }  // error: arithmetic on a pointer to an incomplete type 'void'
namespace c96 { void f(thread void *p) { p[0]; } }  // error: arithmetic on a pointer to an incomplete type 'void'
namespace c97 { void f(int x) { *x = 1; } }  // error: indirection requires pointer operand ('int' invalid)
namespace c98 { void f(int x) { &1; } }  // error: cannot take the address of an rvalue of type 'int'
namespace c99 { void f(int x) { thread int *p = &(x + 1); } }  // error: cannot take the address of an rvalue of type 'int'
namespace c100 { void f(int x) { x.y = 1; } }  // error: member reference base type 'int' is not a structure or union
namespace c101 { void f(int x) { x->y = 1; } }  // error: member reference type 'int' is not a pointer; did you mean to use '.'?
namespace c102 { struct S { int a; }; void f(S s) { s->a = 1; } }  // error: member reference type 'S' is not a pointer; did you mean to use '.'?
namespace c103 { struct S { int a; }; void f(thread S *s) { s.a = 1; } }  // error: member reference type 'thread S *' is a pointer; did you mean to use '->'?
namespace c105 { struct S { int a; }; void f(S s) { s.a(); } }  // error: called object type 'int' is not a function or function pointer
namespace c106 { void f(int x) { x(); } }  // error: called object type 'int' is not a function or function pointer
namespace c107 { void f(int x) { x[0]; } }  // error: subscripted value of type 'int' is not an array, pointer, or vector
namespace c108 { void f(float x) { x % 2; } }  // error: invalid operands to binary expression ('float' and 'int')
namespace c109 { void f(float x) { x << 2; } }  // error: invalid operands to binary expression ('float' and 'int')
namespace c110 { void f(float x) { ~x; } }  // error: invalid argument type 'float' to unary expression
namespace c111 { void f(float x) { x & 1; } }  // error: invalid operands to binary expression ('float' and 'int')
namespace c113 { struct S {}; void f(S s) { -s; } }  // error: invalid argument type 'S' to unary expression
namespace c114 { struct S {}; void f(S s) { s + s; } }  // error: invalid operands to binary expression ('S' and 'S')
namespace c115 { struct S {}; void f(S s) { s == s; } }  // error: invalid operands to binary expression ('S' and 'S')
namespace c117 { struct S { int a; }; struct T { int a; }; void f(S s, T t) { s = t; } }  // error: no viable conversion from 'T' to 'S'
namespace c118 { struct S { const int a; }; void f(S s, S t) { s = t; } }  // error: object of type 'S' cannot be assigned because its copy assignment operator is implicitly deleted: member 'a' is a constant
namespace c119 { struct S { thread int &a; }; void f(S s, S t) { s = t; } }  // error: object of type 'S' cannot be assigned because its copy assignment operator is implicitly deleted: member 'a' is a reference
namespace c120 { struct S { const int a; }; void f() { S s; } }  // error: call to implicitly-deleted default constructor of 'S'
namespace c122 { struct S { const int a; }; void f() { S s{1}; s.a = 2; } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c123 { struct S { int a; }; void f(const S s) { s.a = 2; } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c124 { struct S { int a; void g() const { a = 1; } }; }  // error: read-only variable is not assignable: its type is 'const int'
namespace c125 { struct S { int a; void g() { a = 1; } void h() const { g(); } }; }  // error: no matching member function for call to 'g'
namespace c126 { struct S { int a; void g() { a = 1; } }; void f(const thread S &s) { s.g(); } }  // error: no matching member function for call to 'g'
