// test check
// options: --std metal4.0
// Templates, lambdas, enums and constants: refused, as by clang.
namespace c0 { template <typename T> T f(T a, T b) { return a; } int g() { return f(1, 1.5f); } }  // error: no matching function for call to 'f'
namespace c1 { template <typename T> T f() { return T(); } int g() { return f(); } }  // error: no matching function for call to 'f'
namespace c3 { template <typename T> T f(T) { return T(); } int g() { return f<int, int>(1); } }  // error: no matching function for call to 'f'
namespace c4 { template <int N> int f() { return N; } int g() { return f<int>(); } }  // error: no matching function for call to 'f'
namespace c5 { template <typename T> int f() { return 1; } int g() { return f<3>(); } }  // error: no matching function for call to 'f'
namespace c6 { template <int N> int f() { return N; } int g(int x) { return f<x>(); } }  // error: no matching function for call to 'f'
namespace c8 { template <int N> int f() { return N; } int g() { return f<1.5f>(); } }  // error: no matching function for call to 'f'
namespace c9 { template <uint N> int f() { return N; } int g() { return f<-1>(); } }  // error: no matching function for call to 'f'
namespace c10 { template <bool N> int f() { return N; } int g() { return f<2>(); } }  // error: no matching function for call to 'f'
namespace c11 { template <float N> int f() { return N; } }  // error: a non-type template parameter cannot have type 'float' before C++20
namespace c12 { template <typename T> struct S { T a; }; S s(); }  // error: use of class template 'S' requires template arguments
namespace c13 { template <typename T> struct S { T a; }; S<> s(); }  // error: too few template arguments for template 'S'
namespace c14 { template <typename T> struct S { T a; }; S<int, int> s(); }  // error: too many template arguments for template 'S'
namespace c15 { template <typename T> struct S { T a; }; S<3> s(); }  // error: template argument for template type parameter must be a type
namespace c17 { template <typename T = int, typename U> struct S { T a; }; }  // error: template parameter missing a default argument
namespace c20 { template <typename... T, typename U> struct S {}; }  // error: template parameter pack must be the last template parameter
namespace c22 { template <typename... T> int f(T t) { return 1; } }  // error: the type contains an unexpanded parameter pack
namespace c23 { template <typename T> int f(T... t) { return 1; } }  // error: pack expansion does not contain any unexpanded parameter packs
namespace c24 { template <typename T> int f(T t) { return t...; } }  // error: expected ';' after return statement
namespace c27 { template <typename... T> int f(T... t) { return (t + ...); } int g() { return f(); } }  // error: fold over an empty pack has no value
namespace c30 { template <typename T, typename U> struct S {}; template <typename T> struct S<T, int> {}; template <typename U> struct S<int, U> {}; S<int, int> f() { return {}; } }  // error: ambiguous partial specializations of 'S'
namespace c31 { template <typename T> struct S {}; template <typename T> struct S<T> {}; }  // error: class template partial specialization does not specialize any template argument; to define the primary template, remove the template argument list
namespace c32 { template <typename T> struct S {}; template <typename T, typename U> struct S<thread T *> {}; }  // error: class template partial specialization contains a template parameter that cannot be deduced: 'U'
namespace c33 { template <> struct S<int> {}; }  // error: no template named 'S' to specialize
namespace c34 { template <typename T> void f(T); template <> void f<int>(float); }  // error: no function template matches function template specialization 'f'
namespace c35 { template <typename T> void f(T t) { t.x(); } void g() { f(1); } }  // error: member reference base type 'int' is not a structure or union
namespace c39 { template <typename T> void f(T t) { int x = "a"; } }  // error: cannot initialize a variable of type 'int' with an lvalue of type 'const constant char [2]'
namespace c44 { template <typename T> typename T::type f(T) { return 1; } int g() { return f(1); } }  // error: no matching function for call to 'f'
namespace c47 { template <typename T> using P = thread T *; void f(P p) { *p = 1; } }  // error: use of template 'P' requires template arguments
namespace c53 { template <typename T> struct S { void f(); }; void S::f() {} }  // error: use of class template 'S' requires template arguments
namespace c54 { template <typename T> struct S { void f(); }; template <typename T> void S::f() {} }  // error: use of class template 'S' requires template arguments
namespace c59 { template <typename T> int f(T, int) { return 1; } template <typename T> int f(int, T) { return 2; } int g() { return f(1, 1); } }  // error: call to 'f' is ambiguous
namespace c62 { template <template <typename> class C> struct S { C<int> c; }; S<int> f(); }  // error: template argument for template template parameter must be a class template
namespace c64 { template <int N> struct S { int a[N]; }; void g() { S<-1> s; } }  // error: array size is negative
namespace c69 { auto f(bool b) { if (b) return 1; return 1.5f; } }  // error: 'auto' in return type deduced as 'float' here but deduced as 'int' in earlier return statement
namespace c71 { auto f(); int g() { return f(); } }  // error: function 'c71::f' with deduced return type cannot be used before it is defined
namespace c73 { auto f() { return {1, 2}; } }  // error: an initializer list is not allowed here
namespace c74 { void f() { auto x; } }  // error: declaration of variable 'x' with deduced type 'auto' requires an initializer
namespace c75 { void f() { auto x = {1, 2}; } }  // error: an initializer list is not allowed here
namespace c76 { void f() { auto x = 1, y = 1.5f; } }  // error: 'auto' deduced as 'int' in declaration of 'x' and deduced as 'float' in declaration of 'y'
namespace c79 { void f() { auto x{1, 2}; } }  // error: cannot deduce type for variable with 'auto' from this initializer
namespace c81 { void f() { const auto x = 1; x = 2; } }  // error: cannot assign to variable 'x' with const-qualified type 'const int'
namespace c82 { void f() { auto a[2] = {1, 2}; } }  // error: 'auto' not allowed here
namespace c83 { void g(auto x); }  // error: 'auto' not allowed in function prototype
namespace c86 { void f() { auto thread *p = 1; } }  // error: variable has deduced type that does not fit an initializer of type 'int'
namespace c90 { void f(int x) { if constexpr (x) { } } }  // error: constexpr if condition is not a constant expression
namespace c94 { template <typename T> void f(T) {} template void f<int>(float); }  // error: explicit instantiation of 'f' does not refer to a function template that fits
namespace c96 { template <typename T> class S { T a; }; template <typename T> T f(S<T> s) { return s.a; } int g(S<int> s) { return f(s); } }  // error: 'a' is a private member of 'S<int>'
namespace c107 { template <typename T> struct S { S(T, T) {} }; void g() { S s(1, 1.5f); } }  // error: no matching constructor for initialization of 'S'
namespace c111 { template <typename T> struct S { S() {} }; void g() { S s; } }  // error: use of class template 'S' requires template arguments
namespace c113 { template <typename T> struct S { S(T) {} }; void f(S s) {} }  // error: use of class template 'S' requires template arguments
namespace c114 { template <typename T> struct S { S(T) {} }; struct D { S s = 1; }; }  // error: use of class template 'S' requires template arguments
namespace c117 { template <typename T> struct I { using type = T; }; template <typename T> struct S { S(typename I<T>::type) {} }; void g() { S s(1); } }  // error: no matching constructor for initialization of 'S'
namespace c120 { void f() { auto l = [](int x) { return x; }; l(); } }  // error: no matching member function for call to 'operator()'
namespace c121 { void f() { int y; auto l = [](int x) { return x + y; }; } }  // error: variable 'y' cannot be implicitly captured in a lambda with no capture-default specified
namespace c122 { void f() { int y = 1; auto l = [y]() { y = 2; }; } }  // error: read-only variable is not assignable: its type is 'const int'
namespace c125 { void f() { int y = 1; auto l = [z]() { }; } }  // error: 'z' in capture list does not name a variable
namespace c127 { void f() { auto l = []() -> int { return "a"; }; } }  // error: cannot initialize return object of type 'int' with an lvalue of type 'const constant char [2]'
namespace c128 { void f() { auto l = [](bool b) { if (b) return 1; return 1.5f; }; } }  // error: 'auto' in return type deduced as 'float' here but deduced as 'int' in earlier return statement
namespace c129 { struct S { int x; void f() { auto l = []() { return x; }; } }; }  // error: invalid use of non-static data member 'x'
namespace c131 { void f() { auto l = [this]() { }; } }  // error: invalid use of 'this' outside of a non-static member function
namespace c136 { int f() { return 1; } constexpr constant int x = f(); }  // error: initializer of a variable in constant address space must be a constant expression
namespace c137 { constexpr int f(int n) { return 10 / n; } constexpr constant int x = f(0); }  // error: initializer of a variable in constant address space must be a constant expression
namespace c138 { constexpr constant int x = 2147483647 + 1; }  // error: initializer of a variable in constant address space must be a constant expression
namespace c139 { constexpr constant int x = 1 << 33; }  // error: initializer of a variable in constant address space must be a constant expression
namespace c140 { constexpr constant int x = 1 / 0; }  // error: initializer of a variable in constant address space must be a constant expression
namespace c141 { constexpr int f() { int x; return x; } constexpr constant int y = f(); }  // error: initializer of a variable in constant address space must be a constant expression
namespace c142 { constexpr int f() { int a[2] = {1, 2}; return a[2]; } constexpr constant int y = f(); }  // error: initializer of a variable in constant address space must be a constant expression
namespace c145 { struct S { int x; int g() const { return x; } }; void f() { constexpr S s{1}; constexpr int y = s.g(); } }  // error: constexpr variable 'y' must be initialized by a constant expression
namespace c147 { constexpr int f(); constexpr constant int x = f(); }  // error: initializer of a variable in constant address space must be a constant expression
namespace c148 { enum E { A = 1.5 }; }  // error: enumerator value has non-integral type 'float'
namespace c151 { enum E : uchar { A = 256 }; }  // error: enumerator value 256 is not representable in the underlying type 'uchar'
namespace c152 { enum E : uchar { A = 255, B }; }  // error: enumerator value 256 is not representable in the underlying type 'uchar'
namespace c153 { enum class E { A }; int f() { return E::A; } }  // error: cannot initialize return object of type 'int' with an rvalue of type 'E'
namespace c156 { enum class E { A }; E f() { return 0; } }  // error: cannot initialize return object of type 'E' with an rvalue of type 'int'
namespace c157 { enum E { A }; E f() { return 0; } }  // error: cannot initialize return object of type 'E' with an rvalue of type 'int'
namespace c160 { enum class E { A }; enum class F { B }; bool f(E e, F g) { return e == g; } }  // error: invalid operands to binary expression ('E' and 'F')
namespace c162 { enum class E { A, B }; int f(E e) { return e + 1; } }  // error: invalid operands to binary expression ('E' and 'int')
namespace c163 { enum class E { A, B }; bool f(E e) { return e; } }  // error: cannot initialize return object of type 'bool' with an lvalue of type 'E'
namespace c164 { enum class E { A, B }; bool f(E e) { return !e; } }  // error: value of type 'E' is not contextually convertible to 'bool'
namespace c165 { enum E { A, B }; void f(E e) { e++; } }  // error: cannot increment value of type 'E'
namespace c166 { enum E { A, B }; void f(E e) { e = e | B; } }  // error: assigning to 'E' from incompatible type 'uint'
namespace c168 { enum E { A B }; }  // error: missing ',' between enumerators
namespace c171 { enum class { A }; }  // error: scoped enumeration requires a name
namespace c172 { enum E : float { A }; }  // error: non-integral type is an invalid underlying type
