// test check
// options: --std metal4.0
// Classes and initialization: refused, as by clang.
namespace c141 { void f(thread int *p) { bool b{p}; } }  // error: type 'thread int *' cannot be narrowed to 'bool' in initializer list
namespace c142 { void f() { int x{1, 2}; } }  // error: excess elements in scalar initializer
namespace c144 { void f() { int x(); x = 1; } }  // error: expression is not assignable
namespace c145 { void f() { int x = int(1, 2); } }  // error: excess elements in initializer of type 'int'
namespace c148 { struct S { explicit S(int, int) {} }; void f() { S s = {1, 2}; } }  // error: chosen constructor is explicit in copy-initialization
namespace c155 { struct S { int a[]; int n; }; }  // error: flexible array member 'a' with type 'int []' is not at the end of struct
namespace c156 { struct S { int a } ; }  // error: expected ';' at end of declaration list
namespace c157 { struct S { int a; } }  // error: expected ';' after struct
namespace c159 { struct S { int a(3); }; }  // error: expected parameter declarator
namespace c160 { struct S { auto a = 1; }; }  // error: 'auto' not allowed here
namespace c161 { struct S { void g(auto x) {} }; }  // error: 'auto' not allowed in function prototype
namespace c164 { struct S { public int a; }; }  // error: expected ':'
namespace c166 { struct S { static int f() const; }; }  // error: static member function cannot have 'const' qualifier
namespace c167 { struct S { const S() {} }; }  // error: constructor cannot have a return type
namespace c168 { struct S { explicit int f(); }; }  // error: 'explicit' can only be applied to a constructor or conversion function
namespace c169 { explicit int f(); }  // error: 'explicit' can only be specified inside the class definition
namespace c171 { void f() { mutable int x; } }  // error: 'mutable' can only be applied to member variables
namespace c172 { void f(static int x) {} }  // error: expected parameter declarator
namespace c174 { friend int f(); }  // error: expected unqualified-id
namespace c175 { struct S { friend int x; }; }  // error: friends can only be classes or functions
namespace c176 { struct S { mutable const int x; }; }  // error: 'mutable' and 'const' cannot be mixed
namespace c177 { struct S { S(S s) {} }; }  // error: copy constructor must pass its first argument by reference
namespace c179 { void f() { struct S { template <typename T> T g(T t) { return t; } }; } }  // error: templates cannot be declared inside of a local class
namespace c181 { int f(int y) { struct S { int x; int g() { return y; } }; S s; return s.g(); } }  // error: reference to local variable 'y' declared in enclosing function
namespace c183 { void f() { int g() { return 1; } } }  // error: function definition is not allowed here
namespace c184 { void f() { namespace N {} } }  // error: namespaces can only be defined in global or namespace scope
namespace c185 { void f() { template <typename T> struct S {}; } }  // error: templates can only be declared in namespace or class scope
namespace c186 { void f() { using namespace N; } }  // error: expected namespace name, found 'N'
namespace c189 { namespace A { int x(); } namespace B { int x(); } using namespace A; using namespace B; int f() { return x(); } }  // error: call to 'x' is ambiguous
namespace c190 { namespace A { struct T {}; } namespace B { struct T {}; } using namespace A; using namespace B; T f(); }  // error: reference to 'T' is ambiguous
namespace c195 { struct S {}; namespace S {} }  // error: redefinition of 'S' as different kind of symbol
namespace c196 { using namespace S; }  // error: expected namespace name, found 'S'
namespace c197 { struct S {}; using namespace S; }  // error: expected namespace name, found 'S'
namespace c200 { typename int x; }  // error: expected unqualified-id
namespace c201 { constant int x; }  // error: variable in constant address space must be initialized
namespace c209 { static_assert(1 == 2, "message"); }  // error: static assertion failed: message
namespace c210 { static_assert(1 == 2); }  // error: static assertion failed
namespace c213 { void f(int x) { static_assert(x, ""); } }  // error: static assertion expression is not an integral constant expression
namespace c217 { struct S {}; static_assert(S(), "b"); }  // error: value of type 'S' is not contextually convertible to 'bool'
namespace c218 { template <typename T> void f() { static_assert(sizeof(T) == 1, "x"); } void g() { f<int>(); } }  // error: static assertion failed: x
