//! Statements.

use super::check_statement;

#[test]
fn statements() {
    for (source, expected) in CASES {
        check_statement(source, expected);
    }
}

const CASES: &[(&str, &str)] = &[
    ("if (x) y; else if (z) w; else { }", "(if x y; (if z w; {}))"),
    ("if (int x = f()) y;", "(if (var x int = (call f)) y;)"),
    ("if constexpr (x) y;", "(if-constexpr x y;)"),
    ("if (int x = f(); x) y;", "(if (var x int = (call f)) x y;)"),
    ("if (x = 1; x) y;", "(if (= x 1); x y;)"),
    ("while (x) y;", "(while x y;)"),
    ("do x; while (y);", "(do x; y)"),
    (
        "for (int i = 0, j = 1; i < 4; ++i, ++j) x;",
        "(for (var i int = 0) (var j int = 1) (< i 4) (, (++ i) (++ j)) x;)",
    ),
    ("for (;;) { break; continue; }", "(for _ _ _ {break; continue;})"),
    ("for (auto x : y) z;", "(for-in (var x auto) y z;)"),
    ("for (const device float &x : {1, 2}) z;", "(for-in (var x (ref (const device float))) {1 2} z;)"),
    (
        "switch (x) { case 1: case 2: y; break; default: z; }",
        "(switch x {(case 1 (case 2 y;)) break; (default z;)})",
    ),
    ("return;", "return;"),
    ("return {1, 2};", "(return {1 2})"),
    ("return x + 1;", "(return (+ x 1))"),
    ("float x;", "(var x float)"),
    (
        "float *p = &x, y[4], (*q)[3], &r = x;",
        "(var p (ptr float) = (& x)) (var y (array float 4)) (var q (ptr (array float 3))) (var r (ref float) = x)",
    ),
    ("threadgroup float buf[32];", "(var buf (array (threadgroup float) 32))"),
    ("const short NSG = 4;", "(var NSG (const short) = 4)"),
    ("auto x = 1; constexpr auto y = 2;", "(var x auto = 1) (var constexpr y auto = 2)"),
    ("float x(1), y{2}, z = {3};", "(var x float (init 1)) (var y float (init{} 2)) (var z float = {3})"),
    ("float f(float);", "(function f float ((float)))"),
    ("float2 x(y, z);", "(var x float2 (init y z))"),
    ("int (x);", "(var x int)"),
    ("int (*x)(int);", "(var x (ptr (fn int ((int)))))"),
    ("float4(x);", "(var x float4)"),
    ("float4(x, y);", "(call float4 x y);"),
    ("float4(x) = y;", "(var x float4 = y)"),
    ("float4 (*p);", "(var p (ptr float4))"),
    ("uint(x) == 3;", "(== (call uint x) 3);"),
    ("unknown x;", "(var x unknown)"),
    ("unknown *x;", "(* unknown x);"),
    ("unknown<int> x;", "(var x unknown<type:int>)"),
    ("T * x;", "(* T x);"),
    ("{ struct T {}; T * x; T(y); T{}; }", "{(struct T {}) (var x (ptr T)) (var y T) (make{} T);}"),
    ("struct S { int x; } s; S t;", "(struct S {(var x int)}) (var s S) (var t S)"),
    ("using T = int; T x;", "(alias T int) (var x T)"),
    ("typedef float F[2]; F x;", "(alias F (array float 2)) (var x F)"),
    ("enum { A, B }; enum class E { C }; E e = E::C;", "(enum _ {A B}) (enum-class E {C}) (var e E = E::C)"),
    (r#"static_assert(1, "one"); static_assert(2);"#, r#"(static_assert 1 "one") (static_assert 2)"#),
    ("[[maybe_unused]] int x; [[likely]] x;", "(var [[maybe_unused]] x int) x;"),
    ("decltype(x) y; typename T::X z;", "(var y (decltype x)) (var z T::X)"),
    (
        "extern int x; static constexpr constant float y = 1;",
        "(var extern x int) (var constexpr static y (constant float) = 1)",
    ),
    (
        "namespace m = metal; using metal::max; using namespace metal;",
        "(namespace-alias m metal) (using metal::max) (using-namespace metal)",
    ),
    ("int a; a * b; a < b;", "(var a int) (* a b); (< a b);"),
    ("metal::vec<float, 2> x;", "(var x metal::vec<type:float, 2>)"),
    ("vec<float, 2> x, *y;", "(var x vec<type:float, 2>) (var y (ptr vec<type:float, 2>))"),
    ("int x[] = {1, [1] = 2, [2 ... 3] = 4};", "(var x (array int []) = {1 [1]=2 [2 ... 3]=4})"),
];
