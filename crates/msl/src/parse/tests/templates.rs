//! Templates.

use super::check_program;

#[test]
fn templates() {
    for (source, expected) in CASES {
        check_program(source, expected);
    }
}

const CASES: &[(&str, &str)] = &[
    (
        "template <typename T, class U = float, int N = 4, typename... R> void f(T x, U y, R... r);",
        "(function template<typename T, typename U = float, int N = 4, typename... R> f void ((T x) (U y) (R... r)))",
    ),
    (
        "template <typename T> T f(T x) { return f<T>(x) + f(x); }",
        "(function template<typename T> f T ((T x)) {(return (+ (call f<type:T> x) (call f x)))})",
    ),
    (
        "template <template <typename, int> class C = vec, void (*f)(float), auto N, typename T::X V> struct S;",
        "(struct template<template<typename _, int _> C = vec, (ptr (fn void ((float)))) f, auto N, T::X V> S)",
    ),
    (
        "template <int... N> struct L {}; template <typename... T> struct M : T... { M(T... t) : T(t)... {} };",
        "(struct template<int... N> L {})
(struct template<typename... T> M (bases T...) {(constructor M ((T... t)) : T (init t)... {})})",
    ),
    (
        "template <typename T> constexpr constant bool is_x = false; template <> constexpr constant bool is_x<float> = true; bool b = is_x<int>;",
        "(var template<typename T> constexpr is_x (constant bool) = false)
(var template<> constexpr is_x<type:float> (constant bool) = true)
(var b bool = is_x<type:int>)",
    ),
    (
        "template <typename T> struct S {}; template <> struct S<float> { using type = int; }; template <typename T> struct S<T *> { T v; }; S<float>::type x; S<int> * p;",
        "(struct template<typename T> S {})
(struct template<> S<type:float> {(alias type int)})
(struct template<typename T> S<type:(ptr T)> {(var v T)})
(var x S<type:float>::type)
(var p (ptr S<type:int>))",
    ),
    (
        "template <typename T> using V = vec<T, 4>; V<float> v; V<V<float>> w;",
        "(alias template<typename T> V vec<type:T, 4>)
(var v V<type:float>)
(var w V<type:V<type:float>>)",
    ),
    (
        "template <typename T> void f(T); template <> void f<float>(float) {} template <> void f(int);",
        "(function template<typename T> f void ((T)))
(function template<> f<type:float> void ((float)) {})
(function template<> f void ((int)))",
    ),
    (
        r#"template <typename T> [[kernel]] void k(device T *x) {} template [[host_name("k_f32")]] [[kernel]] void k<float>(device float *); template [[host_name("a" "_" "b")]] [[kernel]] decltype(k<float>) k<float>;"#,
        r#"(function template<typename T> kernel k void (((ptr (device T)) x)) {})
(instantiate [[host_name "k_f32"]] kernel k<type:float> (fn void (((ptr (device float))))))
(instantiate [[host_name "a_b"]] kernel k<type:float> (decltype k<type:float>))"#,
    ),
    (
        r#"template <typename T> kernel void k(device T *x [[buffer(0)]]); template kernel void k<half>(device half *x [[buffer(0)]]); typedef decltype(k<float>) k_t; template [[host_name("y")]] kernel k_t k<float>;"#,
        r#"(function template<typename T> kernel k void (((ptr (device T)) x [[buffer 0]])))
(instantiate kernel k<type:half> (fn void (((ptr (device half)) x [[buffer 0]]))))
(alias k_t (decltype k<type:float>))
(instantiate [[host_name "y"]] kernel k<type:float> k_t)"#,
    ),
    (
        "template <typename T> struct S { void f(); }; template struct S<float>; extern template struct S<int>; extern template void f<int>(int); template void S<half>::f();",
        "(struct template<typename T> S {(function f void ())})
(instantiate S<type:float>)
(extern-instantiate S<type:int>)
(extern-instantiate f<type:int> (fn void ((int))))
(instantiate S<type:half>::f (fn void ()))",
    ),
    (
        "template <__each_floatn T> T acos(T x); template <__each_floatn T> T g(T x) { T * y; return (T)x; }",
        "(function template<__each_floatn T> acos T ((T x)))
(function template<__each_floatn T> g T ((T x)) {(var y (ptr T)) (return (cast T x))})",
    ),
    (
        "template <typename T> struct A { template <typename U> void f(U u); }; template <typename T> template <typename U> void A<T>::f(U u) { T * t; U * v; }",
        "(struct template<typename T> A {(function template<typename U> f void ((U u)))})
(function template<typename T> template<typename U> A<type:T>::f void ((U u)) {(var t (ptr T)) (var v (ptr U))})",
    ),
    (
        "template <int N> struct I { static constexpr constant int v = N; }; int x = I<(1 > 2)>::v + I<1 + 2>::v + I<I<3>::v>::v; bool c = I<4>::v < 5;",
        "(struct template<int N> I {(var constexpr static v (constant int) = N)})
(var x int = (+ (+ I<(paren (> 1 2))>::v I<(+ 1 2)>::v) I<I<3>::v>::v))
(var c bool = (< I<4>::v 5))",
    ),
    (
        "template <typename T> struct A { typedef typename T::template rebind<int>::type R; typename T::X x; using Y = typename T::Y; };",
        "(struct template<typename T> A {(alias R T::rebind<type:int>::type) (var x T::X) (alias Y T::Y)})",
    ),
    (
        "template <typename F> void call(F f); void g() { call<void(int)>(h); call<float (*)(int)>(h); call<decltype(g)>(h); }",
        "(function template<typename F> call void ((F f)))
(function g void () {(call call<type:(fn void ((int)))> h); (call call<type:(ptr (fn float ((int))))> h); (call call<type:(decltype g)> h);})",
    ),
    (
        "template <typename T, typename = enable_if_t<is_same_v<T, float>>> void f(T); template <typename T, enable_if_t<true>* = nullptr> void g();",
        "(function template<typename T, typename _ = enable_if_t<is_same_v<type:T, type:float>>> f void ((T)))
(function template<typename T, (ptr enable_if_t<true>) _ = nullptr> g void ())",
    ),
    (
        "template <typename T> struct A { T f() { return x.template g<T>() + this->template h<1>() + B<T>::n + T::n; } };",
        "(struct template<typename T> A {(function f T () {(return (+ (+ (+ (call (. x g<type:T>)) (call (-> this h<1>))) B<type:T>::n) T::n))})})",
    ),
    (
        "bool a = __is_enum(int) && __is_convertible(const thread float &, int); template <typename T> struct U { typedef __underlying_type(T) type; };",
        "(var a bool = (&& __is_enum<type:int> __is_convertible<type:(ref (const thread float)), type:int>))
(struct template<typename T> U {(alias type __underlying_type<type:T>)})",
    ),
    (
        "template <typename T> METAL_FUNC_T f();",
        "(function template<typename T> f METAL_FUNC_T ())",
    ),
    (
        "template <short N> struct B {}; template <typename T> struct P { static const constant short N = sizeof(T) > 2 ? 4 : 8; B<N / 2> b; B<(N < 3)> c; };",
        "(struct template<short N> B {})
(struct template<typename T> P {(var static N (const constant short) = (? (> (sizeof type:T) 2) 4 8)) (var b B<(/ N 2)>) (var c B<(paren (< N 3))>)})",
    ),
    (
        "template <typename T, int N> T sum(thread const T (&a)[N]) { T s = T(0); for (int i = 0; i < N; ++i) s += a[i]; return s; }",
        "(function template<typename T, int N> sum T (((ref (array (const thread T) N)) a)) {(var s T = (call T 0)) (for (var i int = 0) (< i N) (++ i) (+= s (index a i));) (return s)})",
    ),
    (
        "template <typename... A> void f(A... a) { g<A...>(a...); h(sizeof...(A), (a + ...)); const int x[] = {a...}; }",
        "(function template<typename... A> f void ((A... a)) {(call g<type:A...> a...); (call h (sizeof... A) (fold + a ...)); (var x (array (const int) []) = {a...})})",
    ),
];
