//! Classes and their members.

use super::check_program;

#[test]
fn classes() {
    for (source, expected) in CASES {
        check_program(source, expected);
    }
}

const CASES: &[(&str, &str)] = &[
    (
        "struct S { int x; float y[2]; uint a : 3, : 5, b : 2; static constant int n = 1; int m = 2, k{3}; };",
        "(struct S {(var x int) (var y (array float 2)) (var a uint : 3) (var _ uint : 5) (var b uint : 2) (var static n (constant int) = 1) (var m int = 2) (var k int (init{} 3))})",
    ),
    (
        "class C : public A, private B<int>, D... { public: int x; protected: private: int y; };",
        "(class C (bases A B<type:int> D...) {public: (var x int) protected: private: (var y int)})",
    ),
    (
        "struct alignas(16) [[nodiscard]] S { int x [[attribute(0)]]; float4 p [[position]]; };",
        "(struct [[alignas 16]] [[nodiscard]] S {(var [[attribute 0]] x int) (var [[position]] p float4)})",
    ),
    (
        "struct S { union { int a; float b; }; struct { int c; }; struct { int d; } e; };",
        "(struct S {(union _ {(var a int) (var b float)}) (struct _ {(var c int)}) (var e (struct _ {(var d int)}))})",
    ),
    (
        "struct S { S() = default; S(int x) : a(x), b{x} {} S(const thread S &) = delete; ~S() {} explicit S(float); };",
        "(struct S {(constructor S () default) (constructor S ((int x)) : a (init x) : b (init{} x) {}) (constructor S (((ref (const thread S)))) delete) (destructor ~S () {}) (constructor explicit S ((float)))})",
    ),
    (
        "template <typename T> struct I { constexpr I<T>() threadgroup = default; I(T x); T v; };",
        "(struct template<typename T> I {(constructor constexpr I () threadgroup default) (constructor I ((T x))) (var v T)})",
    ),
    (
        "struct S { operator float() const thread { return 1; } template <typename U> operator U() const device; explicit operator bool() const; };",
        "(struct S {(conversion operator float float () const thread {(return 1)}) (conversion template<typename U> operator U U () const device) (conversion explicit operator bool bool () const)})",
    ),
    (
        "struct S { float operator()(int) const; float operator[](int i) const device { return 1; } thread S &operator=(S) thread; bool operator<(S) const; S operator++(int); };",
        "(struct S {(operator operator() float ((int)) const) (operator operator[] float ((int i)) const device {(return 1)}) (operator operator= (ref (thread S)) ((S)) thread) (operator operator< bool ((S)) const) (operator operator++ S ((int)))})",
    ),
    (
        "struct S { void f() { T x; T * y; later * z; g<int>(1); } using T = int; int later; template <typename U> void g(U); };",
        "(struct S {(function f void () {(var x T) (var y (ptr T)) (* later z); (call g<type:int> 1);}) (alias T int) (var later int) (function template<typename U> g void ((U)))})",
    ),
    (
        "struct S { struct N { int f() { return M() + m; } }; struct M {}; int m; }; S::N n; S::M * p;",
        "(struct S {(struct N {(function f int () {(return (+ (call M) m))})}) (struct M {}) (var m int)})
(var n S::N)
(var p (ptr S::M))",
    ),
    (
        "struct S { friend struct T; friend int f(S s) { return 1; } friend S operator+(S, S); template <typename U> friend struct V; };",
        "(struct S {(friend (struct T)) (friend (function f int ((S s)) {(return 1)})) (friend (operator operator+ S ((S) (S)))) (friend (struct template<typename U> V))})",
    ),
    (
        "struct S { template <typename T> void f(T x) const; template <int N> static int g(); template <typename T> using A = vec<T, 2>; typedef int B; enum E { X }; static_assert(1); };",
        "(struct S {(function template<typename T> f void ((T x)) const) (function template<int N> static g int ()) (alias template<typename T> A vec<type:T, 2>) (alias B int) (enum E {X}) (static_assert 1)})",
    ),
    (
        "struct S { void f(); static int n; struct T {}; T g(); }; void S::f() { T x; T * y; } int S::n = 1; S::T S::g() {}",
        "(struct S {(function f void ()) (var static n int) (struct T {}) (function g T ())})
(function S::f void () {(var x T) (var y (ptr T))})
(var S::n int = 1)
(function S::g S::T () {})",
    ),
    (
        "template <typename T> struct A { void f(T); struct B {}; B g(); A(); ~A(); }; template <typename U> void A<U>::f(U x) { B * b; U * u; } template <typename U> A<U>::A() : x(1) {} template <typename U> A<U>::~A() {} template <typename U> typename A<U>::B A<U>::g() {}",
        "(struct template<typename T> A {(function f void ((T))) (struct B {}) (function g B ()) (constructor A ()) (destructor ~A ())})
(function template<typename U> A<type:U>::f void ((U x)) {(var b (ptr B)) (var u (ptr U))})
(constructor template<typename U> A<type:U>::A () : x (init 1) {})
(destructor template<typename U> A<type:U>::~A () {})
(function template<typename U> A<type:U>::g A<type:U>::B () {})",
    ),
    (
        "struct A { typedef int T; }; struct B : A { T x; void f() { T * y; } };",
        "(struct A {(alias T int)})
(struct B (bases A) {(var x T) (function f void () {(var y (ptr T))})})",
    ),
    (
        "struct Final final : A {}; struct A::B { int x; };",
        "(struct Final (bases A) {})
(struct A::B {(var x int)})",
    ),
    (
        "struct S { void f() const & noexcept; void g() volatile; void h() threadgroup; mutable int x; };",
        "(struct S {(function f void () const) (function g void () volatile) (function h void () threadgroup) (var mutable x int)})",
    ),
    (
        "struct S { S(*f)(int); S *next; S (x); };",
        "(struct S {(var f (ptr (fn S ((int))))) (var next (ptr S)) (constructor S ((x)))})",
    ),
    ("struct S { struct S { int x; }; S y; };", "(struct S {(struct S {(var x int)}) (var y S)})"),
    ("struct S { ; };", "(struct S {;})"),
    (
        "struct S { auto f() { struct L { int g() { return 1; } }; return L().g(); } };",
        "(struct S {(function f auto () {(struct L {(function g int () {(return 1)})}) (return (call (. (call L) g)))})})",
    ),
];
