//! Declarations at namespace scope.

use super::check_program;

#[test]
fn declarations() {
    for (source, expected) in CASES {
        check_program(source, expected);
    }
}

const CASES: &[(&str, &str)] = &[
    (
        "kernel void f(device const float *x [[buffer(0)]], constant uint &n [[buffer(1)]], uint3 tid [[thread_position_in_grid]]) {}",
        "(function kernel f void (((ptr (const device float)) x [[buffer 0]]) ((ref (constant uint)) n [[buffer 1]]) (uint3 tid [[thread_position_in_grid]])) {})",
    ),
    ("[[kernel]] void f() {}", "(function kernel f void () {})"),
    ("void kernel f();", "(function kernel f void ())"),
    (
        "vertex float4 v(); fragment half4 g();",
        "(function vertex v float4 ())
(function fragment g half4 ())",
    ),
    (
        "[[object]] void o(); [[mesh]] void m(); [[intersection(triangle, triangle_data)]] bool i(); [[visible]] int v(); [[stitchable]] int s();",
        "(function [[object]] stage o void ())
(function [[mesh]] stage m void ())
(function [[intersection triangle triangle_data]] stage i bool ())
(function [[visible]] v int ())
(function [[stitchable]] s int ())",
    ),
    (
        r#"[[host_name("k")]] [[max_total_threads_per_threadgroup(64)]] kernel void f();"#,
        r#"(function [[host_name "k"]] [[max_total_threads_per_threadgroup 64]] kernel f void ())"#,
    ),
    ("static constant constexpr const float x = 1;", "(var constexpr static x (const constant float) = 1)"),
    ("constexpr constant float y[] = {1, 2};", "(var constexpr y (array (constant float) []) = {1 2})"),
    (
        "float device *p; device float *const q; float *thread *r;",
        "(var p (ptr (device float)))
(var q (const (ptr (device float))))
(var r (ptr (thread (ptr float))))",
    ),
    (
        "void f(threadgroup float (&a)[4], device int (*p)[2], void (*g)(device const float *, thread int &), float m[2][3]);",
        "(function f void (((ref (array (threadgroup float) 4)) a) ((ptr (array (device int) 2)) p) ((ptr (fn void (((ptr (const device float))) ((ref (thread int)))))) g) ((array (array float 3) 2) m)))",
    ),
    (
        "typedef void (*fn)(int, float); typedef void fun(int);",
        "(alias fn (ptr (fn void ((int) (float)))))
(alias fun (fn void ((int))))",
    ),
    (
        "typedef struct { int x; } A; typedef struct { int x; } B, *PB;",
        "(alias A (struct _ {(var x int)}))
(struct __unnamed_1 {(var x int)})
(alias B __unnamed_1)
(alias PB (ptr __unnamed_1))",
    ),
    (
        "struct { int x; } a; struct { int x; } b, c;",
        "(var a (struct _ {(var x int)}))
(struct __unnamed_1 {(var x int)})
(var b __unnamed_1)
(var c __unnamed_1)",
    ),
    (
        "typedef struct S { int x; } S2;",
        "(struct S {(var x int)})
(alias S2 S)",
    ),
    (
        "unsigned int a; unsigned b; signed char c; unsigned char d; long int e; unsigned long long f; short unsigned g; double h;",
        "(var a uint)
(var b uint)
(var c char)
(var d uchar)
(var e long)
(var f ulong)
(var g ushort)
(var h double)",
    ),
    (
        "struct S; struct S *p; struct S f(struct S s);",
        "(struct S)
(var p (ptr S))
(function f S ((S s)))",
    ),
    (
        "enum E : uint { A, B = 2, C = A + B, }; enum class F; enum struct G { X };",
        "(enum E uint {A B=2 C=(+ A B)})
(enum-class F)
(enum-class G {X})",
    ),
    (
        "namespace a { namespace b { int x; } } namespace a::b { int y; } inline namespace c {} namespace {}",
        "(namespace a (namespace b (var x int)))
(namespace a (namespace b (var y int)))
(inline-namespace c)
(namespace _)",
    ),
    (
        "namespace a { struct T {}; inline namespace i { struct U {}; } } a::T x; a::U y; using a::T; T z; namespace c = a; c::T * w;",
        "(namespace a (struct T {}) (inline-namespace i (struct U {})))
(var x a::T)
(var y a::U)
(using a::T)
(var z T)
(namespace-alias c a)
(var w (ptr c::T))",
    ),
    (
        "using namespace metal; using T = float; using U [[maybe_unused]] = int;",
        "(using-namespace metal)
(alias T float)
(alias U int)",
    ),
    (
        r#"extern "C" { int x; } extern "C" int y; extern int z;"#,
        "(var x int)
(var y int)
(var extern z int)",
    ),
    ("constant bool has_mask [[function_constant(0)]];", "(var [[function_constant 0]] has_mask (constant bool))"),
    (
        "int f() __attribute__((always_inline)); __attribute__((noinline)) int g(); alignas(16) int x; alignas(float4) int y;",
        "(function [[always_inline]] f int ())
(function [[noinline]] g int ())
(var [[alignas 16]] x int)
(var [[alignas (alignof type:float4)]] y int)",
    ),
    (
        "auto f(int x) -> decltype(x); auto g() -> float4 { return 1; }",
        "(function f (decltype x) ((int x)))
(function g float4 () {(return 1)})",
    ),
    (
        "int a, *b, c[2], d(int), (*e)(int);",
        "(var a int)
(var b (ptr int))
(var c (array int 2))
(function d int ((int)))
(var e (ptr (fn int ((int)))))",
    ),
    (
        "void f(int x = 1, float y = 2.0, vec<float, 2> z = {1, 2}); void g(void); void h(int, float);",
        "(function f void ((int x = 1) (float y = 2.0) (vec<type:float, 2> z = {1 2})))
(function g void ())
(function h void ((int) (float)))",
    ),
    (
        "constant float3 x(1, 2, 3); constant int y(f); unknown z; unknown *w; unknown g(other x, const another &y);",
        "(var x (constant float3) (init 1 2 3))
(function y (constant int) ((f)))
(var z unknown)
(var w (ptr unknown))
(function g unknown ((other x) ((ref (const another)) y)))",
    ),
    (
        "inline __attribute__((const)) float f(float x) noexcept { return x; }",
        "(function [[const]] inline f float ((float x)) {(return x)})",
    ),
    (
        "int operator+(A a, A b); thread A &operator+=(thread A &a, A b); A operator,(A, A);",
        "(operator operator+ int ((A a) (A b)))
(operator operator+= (ref (thread A)) (((ref (thread A)) a) (A b)))
(operator operator, A ((A) (A)))",
    ),
    (";", ";"),
];
