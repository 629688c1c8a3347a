// test check
// options: --std metal4.0
// Names that are declared twice: refused, as by clang.
namespace c115 { enum E; }  // error: ISO C++ forbids forward references to 'enum' types
namespace c116 { enum class E : int; enum E : int { A }; }  // error: enumeration previously declared as scoped
namespace c117 { union U { int a; int a; }; }  // error: duplicate member 'a'
namespace c118 { struct S { union { int a; float b; }; int a; }; }  // error: duplicate member 'a'
namespace c119 { struct S { struct { int a; }; struct { int a; }; }; }  // error: member of anonymous struct redeclares 'a'
namespace c122 { int f(); static int f() { return 1; } }  // error: static declaration of 'f' follows non-static declaration
namespace c124 { constexpr int f(); int f() { return 1; } }  // error: non-constexpr declaration of 'f' follows constexpr declaration
namespace c125 { int f(); constexpr int f() { return 1; } }  // error: constexpr declaration of 'f' follows non-constexpr declaration
namespace c126 { template <typename T> struct S { void f(); }; template <typename T> void S<T>::f() {} template <typename T> void S<T>::f() {} }  // error: redefinition of 'f'
namespace c127 { template <typename T> struct S { void f(); }; template <typename T> void S<T>::g() {} }  // error: out-of-line definition of 'g' does not match any declaration in 'S'
namespace c128 { using A = int; struct A {}; }  // error: redefinition of 'A'
namespace c129 { struct A {}; using A = int; }  // error: typedef redefinition with different types ('int' vs 'A')
namespace c132 { typedef struct { int x; } A; typedef struct { int x; } A; }  // error: typedef redefinition with different types ('A' vs 'A')
namespace c137 { struct U; union U { int a; }; }  // error: use of 'U' with tag type that does not match previous declaration
