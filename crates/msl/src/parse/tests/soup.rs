//! Random tokens: on any input, the parser ends and does not panic.

use super::parse_text;
use crate::parse::dump;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Words that lead the parser into its corners.
const WORDS: &[&str] = &[
    "a",
    "T",
    "S",
    "x",
    "f",
    "vec",
    "float4",
    "metal",
    "float",
    "int",
    "unsigned",
    "void",
    "auto",
    "const",
    "device",
    "threadgroup",
    "constexpr",
    "static",
    "kernel",
    "struct",
    "class",
    "union",
    "enum",
    "template",
    "typename",
    "using",
    "namespace",
    "typedef",
    "operator",
    "friend",
    "virtual",
    "decltype",
    "sizeof",
    "alignof",
    "alignas",
    "static_cast",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "return",
    "break",
    "goto",
    "try",
    "catch",
    "new",
    "throw",
    "this",
    "true",
    "nullptr",
    "extern",
    "inline",
    "static_assert",
    "__attribute__",
    "1",
    "2.0h",
    "'a'",
    "\"s\"",
    "(",
    ")",
    "(",
    ")",
    "{",
    "}",
    "{",
    "}",
    "[",
    "]",
    "[[",
    "]]",
    "<",
    ">",
    "<",
    ">",
    ">>",
    ">=",
    ">>=",
    "::",
    "::",
    ";",
    ";",
    ";",
    ",",
    ",",
    ":",
    "?",
    "...",
    "=",
    "==",
    "+",
    "-",
    "*",
    "&",
    "&&",
    "!",
    "~",
    "++",
    ".",
    "->",
    "struct S {",
    "template <typename T>",
    "void f() {",
    "int x =",
    "for (",
    "\n#pragma unroll\n",
];

proptest! {
    // The same cases in every run, of which there is nothing to note.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(3000)
    })]

    #[test]
    fn any_tokens_are_survived(indices in prop::collection::vec(0..WORDS.len(), 0..80)) {
        let words: Vec<&str> = indices.iter().map(|&index| WORDS[index]).collect();
        let (unit, _) = parse_text(&words.join(" "));
        dump::unit(&unit);
    }

    #[test]
    fn any_damage_to_a_program_is_survived(start in 0..PROGRAM.len(), length in 0..40usize, word in 0..WORDS.len()) {
        let end = (start + length).min(PROGRAM.len());
        if PROGRAM.is_char_boundary(start) && PROGRAM.is_char_boundary(end) {
            let damaged = format!("{} {} {}", &PROGRAM[..start], WORDS[word], &PROGRAM[end..]);
            let (unit, _) = parse_text(&damaged);
            dump::unit(&unit);
        }
    }
}

const PROGRAM: &str = r#"
namespace n { template <typename T, int N = 4> struct A { A() = default; A(T x) : v{x} {} T v; using type = T;
    template <typename U> U get(U u) const thread { return later<U>(u) + N; } template <typename U> U later(U u); };
template <> struct A<float, 2> { float w; }; }
typedef struct { uint8_t q[16]; union { half d; ushort s; }; } block; enum class E : uint { X = 1, Y };
constant bool flag [[function_constant(0)]]; template <typename T> constexpr constant bool is_x = false;
template <typename T> kernel void k(device const T *x [[buffer(0)]], uint tid [[thread_position_in_grid]]) {
    threadgroup float buf[32]; auto g = [&, y = 1](auto a) { return a + y; };
    for (int i = 0, j = 1; i < 4; ++i) { if (x[i] < T(2)) continue; else buf[i] = (float)x[i] * g(j); }
    switch (tid) { case 1: case 2: break; default: return; }
    n::A<n::A<T>>::type v = static_cast<T>(x[0] ? 1 : 2); v = sizeof(T) >> 1; }
template [[host_name("k_f32")]] kernel void k<float>(device const float *, uint);
"#;
