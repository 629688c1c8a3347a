// test check
// options: --std metal4.0
// Statements and expressions: refused, as by clang.
namespace c128 { struct S { int a; static void g() { a = 1; } }; }  // error: invalid use of non-static data member 'a'
namespace c129 { struct S { int a; static void g() { this->a = 1; } }; }  // error: invalid use of 'this' outside of a non-static member function
namespace c130 { struct S { int a; void g() { this = nullptr; } }; }  // error: expression is not assignable
namespace c131 { void f() { this; } }  // error: invalid use of 'this' outside of a non-static member function
namespace c132 { struct S { int a; void g(); }; void f() { S::g(); } }  // error: call to non-static member function 'g' without an object
namespace c134 { struct S { int a; }; void f() { S::a = 1; } }  // error: invalid use of non-static data member 'a'
namespace c136 { void f() { int a[3]; int b[3]; a = b; } }  // error: array type 'int [3]' is not assignable
namespace c137 { void f() { int a[3]; a++; } }  // error: cannot increment value of type 'int [3]'
namespace c138 { void f() { int a[3] = {1, 2, 3, 4}; } }  // error: excess elements in array initializer
namespace c140 { void f() { int a[2][2] = {{1, 2, 3}}; } }  // error: excess elements in array initializer
namespace c142 { void f() { int a[]; } }  // error: definition of variable with array type needs an explicit size or an initializer
namespace c144 { void f() { int a[-1]; } }  // error: array size is negative
namespace c145 { void f(int n) { int a[n] = {1}; } }  // error: array size is not a constant expression
namespace c147 { void f() { int n = 3; constexpr int m = n; } }  // error: constexpr variable 'm' must be initialized by a constant expression
namespace c148 { void f() { int a[2.5f]; } }  // error: size of array has non-integer type 'float'
namespace c149 { void f() { int a[3]; thread int (&r)[3] = a; thread int (&s)[4] = a; } }  // error: reference of type 'thread int (&)[4]' cannot bind to an lvalue of type 'int [3]'
namespace c151 { void f() { void x; } }  // error: variable has incomplete type 'void'
namespace c152 { void x(void v) {} }  // error: argument may not have 'void' type
namespace c154 { int f(int) { return 1; } int g() { return f(); } }  // error: no matching function for call to 'f'
namespace c155 { int f(int) { return 1; } int g() { return f(1, 2); } }  // error: no matching function for call to 'f'
namespace c156 { struct S {}; int f(int) { return 1; } int g() { return f(S()); } }  // error: no matching function for call to 'f'
namespace c158 { int f(thread int &) { return 1; } int g() { return f(1); } }  // error: no matching function for call to 'f'
namespace c159 { int f(thread int *) { return 1; } int g() { int x; return f(x); } }  // error: no matching function for call to 'f'
namespace c161 { int f(int); int f(float); int g() { return f(1u); } }  // error: call to 'f' is ambiguous
namespace c162 { int f(int); int f(float); int g() { return f(half(1)); } }  // error: call to 'f' is ambiguous
namespace c163 { int f(int, float); int f(float, int); int g() { return f(1, 1); } }  // error: call to 'f' is ambiguous
namespace c165 { int f(uint); int f(long); int g() { return f(1); } }  // error: call to 'f' is ambiguous
namespace c173 { int f(); int g() { return f; } }  // error: cannot initialize return object of type 'int' with an rvalue of type 'int (*)()'
namespace c174 { int f(); int g() { return f + 1; } }  // error: arithmetic on a pointer to an incomplete type 'int ()'
namespace c175 { int f() { return 1; } void g() { f() = 2; } }  // error: expression is not assignable
namespace c176 { int f() { return 1; } void g() { f = 2; } }  // error: expression is not assignable
namespace c177 { int f() { return 1; } void g() { f()++; } }  // error: expression is not assignable
namespace c178 { void f() {} void g() { int x = f(); } }  // error: cannot initialize a variable of type 'int' with an rvalue of type 'void'
namespace c179 { void f() {} void g() { f() + 1; } }  // error: invalid operands to binary expression ('void' and 'int')
namespace c181 { void f() {} void g() { true ? f() : 1; } }  // error: incompatible operand types ('void' and 'int')
namespace c182 { struct S {}; void g() { S s; int x = true ? s : 1; } }  // error: incompatible operand types ('S' and 'int')
namespace c183 { struct S {}; struct T {}; void g() { true ? S() : T(); } }  // error: incompatible operand types ('S' and 'T')
namespace c184 { void g(thread int *p, thread float *q) { true ? p : q; } }  // error: incompatible operand types ('thread int *' and 'thread float *')
namespace c186 { void g(thread int *p) { true ? p : 1; } }  // error: incompatible operand types ('thread int *' and 'int')
namespace c188 { void g(int a, float b) { (true ? a : b) = 1; } }  // error: expression is not assignable
namespace c191 { void g(int a, int b) { a++ = 1; } }  // error: expression is not assignable
namespace c193 { void g(int a) { ++a++; } }  // error: expression is not assignable
namespace c194 { void g(bool a) { a++; } }  // error: cannot increment value of type 'bool'
namespace c195 { void g(bool a) { a--; } }  // error: cannot increment value of type 'bool'
namespace c196 { void g() { sizeof(void); } }  // error: invalid application of 'sizeof' to an incomplete type 'void'
namespace c197 { struct S; void g() { sizeof(S); } }  // error: invalid application of 'sizeof' to an incomplete type 'S'
namespace c198 { void g() { sizeof(int[]); } }  // error: invalid application of 'sizeof' to an incomplete type 'int []'
namespace c199 { struct S; void g() { S s; } }  // error: variable has incomplete type 'S'
namespace c200 { struct S; S f(); void g() { f(); } }  // error: calling 'c200::f' with incomplete return type 'S'
namespace c201 { struct S; void g(S s) {} }  // error: variable has incomplete type 'S'
namespace c204 { struct S; void g(thread S *s) { s++; } }  // error: arithmetic on a pointer to an incomplete type 'S'
namespace c205 { struct S { S s; }; }  // error: field has incomplete type 'S'
