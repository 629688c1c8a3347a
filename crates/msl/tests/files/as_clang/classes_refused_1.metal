// test check
// options: --std metal4.0
// Classes and initialization: refused, as by clang.
namespace c0 { class C { int a; }; void f() { C c; c.a = 1; } }  // error: 'a' is a private member of 'C'
namespace c2 { class C { void g() {} }; void f() { C c; c.g(); } }  // error: 'g' is a private member of 'C'
namespace c3 { class C { static int g() { return 1; } }; int f() { return C::g(); } }  // error: 'g' is a private member of 'C'
namespace c5 { class C { int a; }; class D : public C { int g() { return a; } }; }  // error: 'a' is a private member of 'C'
namespace c6 { class C { protected: int a; }; void f() { C c; c.a = 1; } }  // error: 'a' is a protected member of 'C'
namespace c7 { class C { protected: int a; }; class D : public C { int g(thread C &c) { return c.a; } }; }  // error: 'a' is a protected member of 'C'
namespace c9 { class C { public: int a; }; class D : C { }; void f() { D d; d.a = 1; } }  // error: 'a' is a private member of 'C'
namespace c11 { class C { C() {} }; void f() { C c; } }  // error: 'C' is a private member of 'C'
namespace c12 { class C { explicit C(int) {} public: C() {} }; void f() { C c(1); } }  // error: 'C' is a private member of 'C'
namespace c13 { class C { public: explicit C(int) {} }; void f() { C c = 1; } }  // error: no viable conversion from 'int' to 'C'
namespace c15 { class C { public: explicit C(int) {} }; void f() { C c = {1}; } }  // error: chosen constructor is explicit in copy-initialization
namespace c16 { class C { public: explicit C(int) {} }; void g(C) {} void f() { g(1); } }  // error: no matching function for call to 'g'
namespace c17 { class C { public: explicit C(int) {} }; C f() { return 1; } }  // error: no viable conversion from 'int' to 'C'
namespace c18 { class C { public: explicit C(int) {} }; C f() { return {1}; } }  // error: chosen constructor is explicit in copy-initialization
namespace c20 { class C { public: C(int) {} }; void f() { C c; } }  // error: no matching constructor for initialization of 'C'
namespace c21 { class C { public: C(int) {} }; void f() { C c(1, 2); } }  // error: no matching constructor for initialization of 'C'
namespace c22 { class C { public: C(int) {} }; void f() { C c[2]; } }  // error: no matching constructor for initialization of 'C'
namespace c24 { class C { public: C(int) {} }; struct D { C c; }; void f() { D d; } }  // error: no matching constructor for initialization of 'C'
namespace c25 { class C { public: C(int) {} }; struct D { C c; D() {} }; }  // error: no matching constructor for initialization of 'C'
namespace c27 { class C { public: C(int) {} }; struct D : C { D() {} }; }  // error: no matching constructor for initialization of 'C'
namespace c29 { struct D { int a; D() : b(1) {} }; }  // error: member initializer 'b' does not name a non-static data member or base class
namespace c30 { struct D { int a; D() : a(1), a(2) {} }; }  // error: multiple initializations given for non-static member 'a'
namespace c31 { struct A {}; struct D { int a; D() : A() {} }; }  // error: member initializer 'A' does not name a non-static data member or base class
namespace c32 { struct D { int a; void g() : a(1) {} }; }  // error: only constructors take base initializers
namespace c33 { struct D { thread int &a; D() {} }; }  // error: constructor for 'D' must explicitly initialize the reference member 'a'
namespace c34 { struct D { const int a; D() {} }; }  // error: constructor for 'D' must explicitly initialize the const member 'a'
namespace c36 { struct D { int a; D(int x) : a{x} {} D() : D(1), a(2) {} }; }  // error: an initializer for a delegating constructor must appear alone
namespace c38 { struct D { D() = delete; }; void f() { D d; } }  // error: call to deleted constructor of 'D'
namespace c40 { void g(int) = delete; void f() { g(1); } }  // error: attempt to use a deleted function 'g'
namespace c41 { void g(int); void g(float) = delete; void f() { g(1.5f); } }  // error: attempt to use a deleted function 'g'
namespace c42 { struct D { D(const thread D &) = delete; D() {} }; void f() { D a; D b = a; } }  // error: call to deleted constructor of 'D'
namespace c43 { struct D { D() {} thread D &operator=(const thread D &) = delete; }; void f() { D a; D b; a = b; } }  // error: overload resolution selected deleted operator '='
namespace c47 { struct D { int x : 0; }; }  // error: named bit-field has zero width
namespace c49 { struct D { int x : -1; }; }  // error: width of bit-field (-1 bits) does not fit its type
namespace c50 { struct D { float x : 3; }; }  // error: bit-field 'x' has non-integral type 'float'
namespace c51 { struct D { int x : 3; }; void f() { D d; thread int *p = &d.x; } }  // error: address of bit-field requested
namespace c52 { struct D { int x : 3; }; void f() { D d; thread int &p = d.x; } }  // error: non-const reference cannot bind to bit-field
namespace c57 { struct D { D(); }; D::D(int) {} }  // error: out-of-line definition of 'D' does not match any declaration in 'D'
namespace c58 { struct A { int x; }; struct B { int x; }; struct C : A, B {}; int f() { C c; return c.x; } }  // error: member 'x' found in multiple base classes of different types
namespace c60 { struct A { int x; }; struct B : A {}; struct C : A {}; struct D : B, C {}; int f() { D d; return d.x; } }  // error: non-static member 'x' found in multiple base-class subobjects of type 'A'
namespace c62 { struct A { void f(int); }; struct B : A { void f(); }; void g() { B b; b.f(1); } }  // error: no matching member function for call to 'f'
namespace c65 { struct A {}; struct B : A {}; void f() { A a; B b = a; } }  // error: no viable conversion from 'A' to 'B'
namespace c66 { struct A {}; struct B : A {}; void f() { A a; thread B *p = &a; } }  // error: cannot initialize a variable of type 'thread B *' with an rvalue of type 'thread A *'
namespace c68 { struct A {}; struct B {}; void f() { A a; thread B *p = static_cast<thread B *>(&a); (void)p; } }  // error: static_cast from 'thread A *' to 'thread B *' is not allowed
namespace c69 { struct B : int {}; }  // error: base specifier must name a class
namespace c71 { struct A; struct B : A {}; }  // error: base class 'A' has incomplete type
namespace c72 { struct B : B {}; }  // error: base specifier must name a class
namespace c73 { union U { int a; float b; }; struct B : U {}; }  // error: unions cannot be base classes
namespace c74 { union U : U {}; }  // error: base specifier must name a class
namespace c75 { struct A final {}; struct B : A {}; }  // error: base 'A' is marked 'final'
namespace c77 { struct A { int operator()(int x) { return x; } }; int f() { A a; return a(); } }  // error: no matching member function for call to 'operator()'
namespace c79 { struct A { int operator[](int x, int y) { return x; } }; }  // error: overloaded 'operator[]' cannot have more than one parameter before C++23
namespace c80 { struct A { A operator+(A) { return *this; } }; int f() { A a; a + a; a + 1; return 1; } }  // error: no matching member function for call to 'operator+'
namespace c82 { int operator+(int a, int b) { return 1; } }  // error: overloaded 'operator+' must have at least one parameter of class or enumeration type
namespace c83 { struct A {}; int operator+(A a) { return 1; } int operator+(A a, int b, int c) { return 1; } }  // error: overloaded 'operator+' must be a unary or binary operator (has 3 parameters)
namespace c84 { struct A {}; int operator=(A a, int b) { return 1; } }  // error: overloaded 'operator=' must be a non-static member function
namespace c85 { struct A {}; int operator[](A a, int b) { return 1; } }  // error: overloaded 'operator[]' must be a non-static member function
namespace c86 { struct A {}; int operator?(A a, int b) { return 1; } }  // error: expected a type
namespace c87 { struct A {}; int operator.(A a) { return 1; } }  // error: expected a type
namespace c88 { struct A {}; int operator+(A a, A b = A()) { return 1; } }  // error: parameter of overloaded 'operator+' cannot have a default argument
namespace c90 { class A { int x; friend int g(A a); }; int g(A a) { return a.x; } int h(A a) { return a.x; } }  // error: 'x' is a private member of 'A'
namespace c93 { class A { class B { int y; }; int f(B b) { return b.y; } }; }  // error: 'y' is a private member of 'B'
namespace c94 { class A { class B {}; }; A::B b(); }  // error: 'B' is a private member of 'A'
namespace c95 { class A { typedef int T; }; A::T g(); }  // error: 'T' is a private member of 'A'
namespace c96 { class A { enum { X }; }; int g() { return A::X; } }  // error: 'X' is a private member of 'A'
namespace c102 { struct A { int a; int b; }; void f() { A a = {1, 2, 3}; } }  // error: excess elements in struct initializer
namespace c104 { struct A { int a; int b; }; void f() { A a(1, 2); } }  // error: no matching constructor for initialization of 'A'
namespace c105 { struct A { int a; int b; }; void f() { A a = 1; } }  // error: no viable conversion from 'int' to 'A'
namespace c106 { struct A { int a; private: int b; }; void f() { A a = {1, 2}; } }  // error: no matching constructor for initialization of 'A'
namespace c107 { struct A { int a; A(int) {} }; void f() { A a = {1, 2}; } }  // error: no matching constructor for initialization of 'A'
namespace c109 { struct A { int a; int b; }; void f() { A a = {.c = 1}; } }  // error: field designator 'c' does not refer to any field in type 'A'
namespace c114 { void f() { int a[3] = {[3] = 1}; } }  // error: array designator [3 ... 3] is outside the array
namespace c118 { void f() { int x{1.5f}; } }  // error: type 'float' cannot be narrowed to 'int' in initializer list
namespace c119 { void f() { int x{1.0f}; } }  // error: type 'float' cannot be narrowed to 'int' in initializer list
namespace c120 { void f() { int x = {1.5f}; } }  // error: type 'float' cannot be narrowed to 'int' in initializer list
namespace c121 { void f(float y) { int x{y}; } }  // error: non-constant-expression cannot be narrowed from type 'float' to 'int' in initializer list
namespace c122 { void f(int y) { float x{y}; } }  // error: non-constant-expression cannot be narrowed from type 'int' to 'float' in initializer list
namespace c124 { void f() { uchar c{256}; } }  // error: constant expression evaluates to 256 which cannot be narrowed to type 'uchar'
namespace c125 { void f() { uint c{-1}; } }  // error: constant expression evaluates to -1 which cannot be narrowed to type 'uint'
namespace c126 { void f(int y) { uint c{y}; } }  // error: non-constant-expression cannot be narrowed from type 'int' to 'uint' in initializer list
namespace c127 { void f(long y) { int c{y}; } }  // error: non-constant-expression cannot be narrowed from type 'long' to 'int' in initializer list
namespace c130 { void f() { int a[2] = {1.5f, 2}; } }  // error: type 'float' cannot be narrowed to 'int' in initializer list
namespace c131 { struct A { uchar a; }; void f(int y) { A a{y}; } }  // error: non-constant-expression cannot be narrowed from type 'int' to 'uchar' in initializer list
namespace c132 { struct A { uchar a; }; void f(int y) { A a = {y}; } }  // error: non-constant-expression cannot be narrowed from type 'int' to 'uchar' in initializer list
namespace c133 { struct A { float a; }; void f(int y) { A a = {y}; } }  // error: non-constant-expression cannot be narrowed from type 'int' to 'float' in initializer list
namespace c134 { int f(float y) { return {y}; } }  // error: non-constant-expression cannot be narrowed from type 'float' to 'int' in initializer list
namespace c135 { void g(int) {} void f(float y) { g({y}); } }  // error: no matching function for call to 'g'
namespace c137 { void f() { half h{1e10f}; } }  // error: constant expression evaluates to 10000000000 which cannot be narrowed to type 'half'
namespace c138 { void f(float y) { half h{y}; } }  // error: non-constant-expression cannot be narrowed from type 'float' to 'half' in initializer list
namespace c139 { void f() { bool b{2}; } }  // error: constant expression evaluates to 2 which cannot be narrowed to type 'bool'
