//! Whatever the source, the front end answers: no panic, no hang, bounded memory.
//!
//! Seeds are the shaders of `tests/files` and `examples`; mutations delete, double and swap their tokens and bytes, and
//! random tokens make programs unlike any real one. Each case has a time limit. The cases are the same in every run;
//! `METALWORKS_FUZZ_CASES` sets how many there are, and `METALWORKS_FUZZ_SEED` which, such as for
//! `cargo test --release -p metalworks-msl --test robustness`, where 20000 take some minutes.

#[allow(dead_code, reason = "only the list of files is needed here, not their expectations")]
mod filetest;

use metalworks_msl::Options;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

/// Far more than any case needs, even on a busy machine and without optimization: only an endless loop takes longer.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// A diagnostic is a few hundred bytes; a source of some kilobytes must not make megabytes of them.
const MOST_DIAGNOSTICS: usize = 10_000;

/// The sources that are mutated.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut files = filetest::files_below(&filetest::files_dir());
    files.extend(filetest::files_below("../../examples".as_ref()));
    let texts = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "metal"));
    let texts: Vec<String> = texts.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    // Long ones cost time and add nothing that the short ones do not have.
    texts.into_iter().filter(|text| text.len() < 6000).collect()
});

/// Words of the language, for soup.
const WORDS: &[&str] = &[
    "kernel",
    "void",
    "device",
    "constant",
    "threadgroup",
    "thread",
    "float",
    "float4",
    "half",
    "int",
    "uint",
    "bool",
    "auto",
    "const",
    "constexpr",
    "static",
    "struct",
    "class",
    "enum",
    "union",
    "namespace",
    "using",
    "typedef",
    "template",
    "typename",
    "operator",
    "return",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "break",
    "continue",
    "sizeof",
    "decltype",
    "static_assert",
    "this",
    "true",
    "false",
    "nullptr",
    "static_cast",
    "reinterpret_cast",
    "friend",
    "public",
    "private",
    "explicit",
    "inline",
    "T",
    "N",
    "x",
    "y",
    "S",
    "f",
    "vec",
    "metal",
    "1",
    "0",
    "2.5f",
    "'a'",
    "\"s\"",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ".",
    "->",
    "::",
    ":",
    "?",
    "=",
    "==",
    "!=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "&&",
    "|",
    "||",
    "^",
    "~",
    "!",
    "<<",
    ">>",
    "+=",
    "++",
    "--",
    "...",
    "[[",
    "]]",
    "buffer",
    "host_name",
    "as_type",
    "atomic_int",
    "\n#define M ",
    "\n#define F(x) ",
    "M",
    "F(",
    "##",
    "\n#if ",
    "\n#else\n",
    "\n#endif\n",
    "\n#include <metal_stdlib>\n",
    "\n",
    "simdgroup_float8x8",
    "array",
    "matrix",
    "texture2d",
    "sampler",
    "enable_if_t",
    "is_same_v",
    "typename T::type",
    "vertex",
];

/// Compiles and reads every result, within the time limit.
fn survives(text: &str) -> Result<(), TestCaseError> {
    let (sender, receiver) = mpsc::channel();
    let owned = text.to_owned();
    // The thread of a case that hangs is left behind; the test has failed by then.
    let worker = std::thread::spawn(move || {
        // The first version with lambdas.
        let options =
            Options { warnings: true, std: metalworks_msl::LanguageVersion::new(3, 2), ..Options::default() };
        let compilation = metalworks_msl::compile_source("fuzz.metal", &owned, &options);
        let shown = compilation.render_diagnostics(false);
        let json = metalworks_msl::diagnostics::json::to_json(&compilation.diagnostics, &compilation.sources);
        let reflection = compilation.reflect();
        // Nobody listens only after the time is up.
        let _ =
            sender.send((compilation.diagnostics.len(), shown.len(), json.is_array(), reflection.kernels.len()));
    });
    match receiver.recv_timeout(TIME_LIMIT) {
        Ok((diagnostics, ..)) => {
            prop_assert!(diagnostics < MOST_DIAGNOSTICS, "{diagnostics} diagnostics for:\n{text}");
            Ok(())
        }
        Err(RecvTimeoutError::Timeout) => {
            Err(TestCaseError::fail(format!("it takes more than {TIME_LIMIT:?}:\n{text}")))
        }
        Err(RecvTimeoutError::Disconnected) => {
            let reason = worker.join().expect_err("it sent nothing");
            let reason = reason.downcast_ref::<String>().cloned();
            let reason = reason.unwrap_or_else(|| "it gives no reason".into());
            Err(TestCaseError::fail(format!("it panics: {reason}\n{text}")))
        }
    }
}

/// Runs one text after the other and tells of all that failed.
#[derive(Default)]
struct Cases {
    failures: Vec<String>,
}

impl Cases {
    fn check(&mut self, text: impl AsRef<str>) {
        if let Err(error) = survives(text.as_ref()) {
            self.failures.push(error.to_string().chars().take(400).collect());
        }
    }

    #[track_caller]
    fn report(self) {
        assert!(self.failures.is_empty(), "{} failed\n\n{}", self.failures.len(), self.failures.join("\n\n"));
    }
}

/// Starts and ends of the tokens of a text, roughly: words, numbers, single characters.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let mut in_word = false;
    for (at, character) in text.char_indices() {
        let is_word = character.is_alphanumeric() || character == '_';
        match tokens.last_mut() {
            Some((_, end)) if is_word && in_word => *end = at + character.len_utf8(),
            _ if character.is_whitespace() => {}
            _ => tokens.push((at, at + character.len_utf8())),
        }
        in_word = is_word;
    }
    tokens
}

#[derive(Clone, Debug)]
enum Mutation {
    DeleteToken(usize),
    DoubleToken(usize),
    SwapTokens(usize, usize),
    ReplaceToken(usize, usize),
    DeleteSpan(usize, usize),
    DoubleSpan(usize, usize),
    InsertWord(usize, usize),
    Truncate(usize),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let any = any::<usize>;
    prop_oneof![
        any().prop_map(Mutation::DeleteToken),
        any().prop_map(Mutation::DoubleToken),
        (any(), any()).prop_map(|(a, b)| Mutation::SwapTokens(a, b)),
        (any(), any()).prop_map(|(a, b)| Mutation::ReplaceToken(a, b)),
        (any(), any()).prop_map(|(a, b)| Mutation::DeleteSpan(a, b)),
        (any(), any()).prop_map(|(a, b)| Mutation::DoubleSpan(a, b)),
        (any(), any()).prop_map(|(a, b)| Mutation::InsertWord(a, b)),
        any().prop_map(Mutation::Truncate),
    ]
}

fn mutate(text: &str, mutation: &Mutation) -> String {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return text.to_owned();
    }
    let token = |index: usize| tokens[index % tokens.len()];
    let boundary = |at: usize| (0..=at % (text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let span = |a: usize, b: usize| (boundary(a), (boundary(a) + b % 40).min(text.len()));
    let replaced = |(start, end): (usize, usize), by: &str| {
        let end = (end..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
        format!("{}{by}{}", &text[..start], &text[end..])
    };
    let spelled = |(start, end): (usize, usize)| text.get(start..end).unwrap_or_default();
    match *mutation {
        Mutation::DeleteToken(a) => replaced(token(a), ""),
        Mutation::DoubleToken(a) => replaced(token(a), &format!("{0} {0}", spelled(token(a)))),
        Mutation::ReplaceToken(a, b) => replaced(token(a), spelled(token(b))),
        Mutation::SwapTokens(a, b) => {
            let (first, second) = (token(a).min(token(b)), token(a).max(token(b)));
            let tail = replaced(second, spelled(first));
            if first == second {
                tail
            } else {
                format!("{}{}{}", &tail[..first.0], spelled(second), &tail[first.1..])
            }
        }
        Mutation::DeleteSpan(a, b) => replaced(span(a, b), ""),
        Mutation::DoubleSpan(a, b) => {
            let (start, end) = span(a, b);
            replaced((end, end), spelled((start, end)))
        }
        Mutation::InsertWord(a, b) => replaced((token(a).0, token(a).0), &format!(" {} ", WORDS[b % WORDS.len()])),
        Mutation::Truncate(a) => text[..boundary(a)].to_owned(),
    }
}

/// Number of cases: so few by default that the whole file takes less than a minute in a debug build.
fn cases(default: u32) -> Config {
    let setting = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u32>().ok());
    Config {
        cases: setting("METALWORKS_FUZZ_CASES").unwrap_or(default),
        rng_seed: RngSeed::Fixed(setting("METALWORKS_FUZZ_SEED").unwrap_or(1).into()),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn mutated_shaders(seed in any::<prop::sample::Index>(), mutations in prop::collection::vec(mutation(), 1..6)) {
        let seed = seed.get(&SEEDS);
        let text = mutations.iter().fold(seed.clone(), |text, mutation| mutate(&text, mutation));
        survives(&text)?;
    }

    #[test]
    fn two_shaders_spliced(a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(), at in any::<usize>(), from in any::<usize>()) {
        let (a, b) = (a.get(&SEEDS), b.get(&SEEDS));
        let text = mutate(a, &Mutation::Truncate(at)) + &b[mutate(b, &Mutation::Truncate(from)).len()..];
        survives(&text)?;
    }

    #[test]
    fn token_soup(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        survives(&words.join(" "))?;
    }

    #[test]
    fn soup_in_a_kernel(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let body = words.join(" ");
        survives(&format!("#include <metal_stdlib>\nusing namespace metal;\ntemplate <typename T, int N> struct S {{ T x; }};\n\
                           template <typename T> T f(T x) {{ return x; }}\nkernel void k(device float *x, constant int &y) {{\n{body}\n}}\n"))?;
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survives(&text)?;
    }
}

/// Nesting of every kind, far deeper than in real code.
#[test]
fn deep_nesting() {
    let mut cases = Cases::default();
    const DEPTH: usize = 5_000;
    let nests: &[(&str, &str, &str)] = &[
        ("constant int x = ", "(", ")"),
        ("constant int x = ", "-", ""),
        ("constant int x = ", "1+(", ")"),
        ("constant int x = ", "true ? 1 : ", ""),
        ("constant int x[] = ", "{", "}"),
        ("void f() ", "{", "}"),
        ("void f() { ", "if (true) ", ""),
        ("void f() { ", "while (true) {", "}"),
        ("void f() { auto x = ", "[] { return ", "; }"),
        ("void f(int x) { x = ", "x[", "]"),
        ("void f(int x) { x = ", "f(", ")"),
        ("void f(int x) { x = ", "x.y", ""),
        ("void f(int x) { x = ", "x + ", ""),
        ("void f(int x) { ", "x = ", "1"),
        ("", "namespace n {", "}"),
        ("", "struct S {", "};"),
        ("", "template <typename T> struct S; ", ""),
        ("", "template <template <typename> class ", ">"),
        ("vec<", "vec<", ">"),
        ("void f(", "device float *", ")"),
        ("device int ", "(*", ")"),
        ("int f", "(int ", ")"),
        ("constant int x", "[1]", ";"),
        ("typedef decltype(", "decltype(", ")"),
        ("#if ", "(", ")"),
        ("", "#if 1\n", "#endif\n"),
        ("#define F(x) x\nconstant int x = ", "F(", ")"),
        ("[[", "[[", "]]"),
        ("enum { a = ", "sizeof(", ")"),
    ];
    for (before, open, close) in nests {
        cases.check(format!("{before}{}1{}", open.repeat(DEPTH), close.repeat(DEPTH)));
        cases.check(format!("{before}{}", open.repeat(DEPTH)));
    }
    cases.report();
}

/// Templates that never end, or that end only after the universe.
#[test]
fn runaway_templates() {
    let mut cases = Cases::default();
    let kernel = |call: &str| format!("kernel void k(device int *out) {{ out[0] = {call}; }}\n");
    let texts = [
        "template <int N> struct A { static constexpr constant int v = A<N + 1>::v; };\nconstant int x = A<0>::v;\n".into(),
        "template <int N> struct A : A<N + 1> {};\nA<0> f();\nconstant int x = sizeof(A<0>);\n".into(),
        "template <typename T> struct A { typedef typename A<A<T>>::type type; };\nA<int>::type f();\n".into(),
        "template <typename T> struct A { A<device T *> a; };\nconstant int x = sizeof(A<int>);\n".into(),
        "template <typename T> struct A { T t; A<A<T>> f() { return A<A<T>>(); } };\ntemplate struct A<int>;\n".into(),
        "template <typename T> using A = typename T::template B<A<T>>;\n".into(),
        "template <int N> constexpr constant int v = v<N + 1>;\nconstant int x = v<0>;\n".into(),
        "template <typename... T> struct A { typedef typename A<T..., T...>::type type; };\nA<int>::type f();\n".into(),
        "template <int N> struct A { static constexpr constant int v = A<N - 1>::v + A<N - 1>::v; };\n\
         template <> struct A<0> { static constexpr constant int v = 1; };\nconstant int x = A<30>::v;\n".into(),
        "template <int A, int B> struct F { static constexpr constant int v = F<A - 1, B>::v + F<A, B - 1>::v + F<A - 1, B * 2>::v; };\n\
         constant int x = F<40, 40>::v;\n".into(),
        format!("template <int N> int f() {{ return f<N + 1>(); }}\n{}", kernel("f<0>()")),
        format!("template <typename T> int f(T x) {{ return f(&x); }}\n{}", kernel("f(1)")),
        format!("template <typename T> struct B {{ T t; }};\ntemplate <typename T> int f(T x) {{ return f(B<T>{{x}}); }}\n{}", kernel("f(1)")),
        format!("template <typename T> auto f(T x) -> decltype(f(vec<T, 2>(x)));\n{}", kernel("f(1)")),
        format!("template <int N> int f() {{ return f<N - 1>() + f<N - 2>(); }}\n{}", kernel("f<1000>()")),
        format!("template <int N> int f() {{ return f<N - 97>() + f<N - 1>(); }}\n{}", kernel("f<4>()")),
        format!("template <int N> int f() {{ return f<N - 1>() + f<-5 * N - 1>(); }}\n{}", kernel("f<4>()")),
        format!("template <int N, typename T> int f(T x) {{ auto g = [x](auto y) {{ return f<N + 1>(y); }}; return g(x); }}\n{}", kernel("f<0>(1)")),
        format!("template <typename T> int f(T x) {{ return f([x] {{ return x; }}); }}\n{}", kernel("f(1)")),
        format!("template <typename T, int N> int f(vec<T, N> x) {{ return f(vec<T, N + 1>(1)); }}\n{}", kernel("f(int2(1))")),
        // The pack of arguments doubles with each call: at the old limit of depth alone, it took 5 GB.
        format!("template <typename... T> int f(int n, T... t) {{ return f(n, t..., t...); }}\n{}", kernel("f(1, 2)")),
        "#include <metal_stdlib>\nusing namespace metal;\nconstant int x = make_index_sequence<1000000>::size();\n".into(),
        "#include <metal_stdlib>\nusing namespace metal;\nconstant int x = make_index_sequence<size_t(-1)>::size();\n".into(),
    ];
    for text in &texts {
        cases.check(text);
    }
    let members: String = (1..60).map(|n| format!("struct S{n} {{ S{0} a, b; }};\n", n - 1)).collect();
    cases.check(format!(
        "struct S0 {{ int a; }};\n{members}kernel void k(device S59 *o) {{ S59 x = {{}}; *o = x; }}\n"
    ));
    cases.report();
}

/// Long lists, for which work that grows with the square of their length takes minutes.
#[test]
fn long_lists() {
    let mut cases = Cases::default();
    let list = |count: usize, item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let names = list(200_000, &|i| format!("a{i}"));
    cases.check(format!("#define F({names}) a7 a199999\n"));
    cases.check(format!(
        "#define F({names}) a7 + a199999\nconstant int x = F({});\n",
        list(200_000, &|_| "1".into())
    ));
    cases.check(format!("kernel void k({}) {{}}\n", list(10_000, &|i| format!("device float *a{i}"))));
    cases.check(format!(
        "kernel void k({}) {{}}\n",
        list(10_000, &|i| format!("device float *a{i} [[buffer({i})]]"))
    ));
    cases.check(format!("int f({}) {{ return a1; }}\n", list(50_000, &|i| format!("int a{i}"))));
    let fields: String = (0..50_000).map(|i| format!("int a{i};")).collect();
    cases.check(format!("struct S {{ {fields} }}; union U {{ struct {{ {fields} }}; int b; }};\n"));
    cases.check(format!("void f() {{ {} }}\n", "x; ".repeat(200_000)));
    let labels: String = (0..20_000).map(|i| format!("case {i}: ")).collect();
    cases.check(format!("void f(int x) {{ switch (x) {{ {labels}; }} }}\n"));
    // Each use was compared with each specialization.
    let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let specializations = lines(20_000, &|n| format!("template <> struct A<{n}> {{ int y; }};\n"));
    let uses = lines(20_000, &|n| format!("constant int b{n} = sizeof(A<{n}>);\n"));
    cases.check(format!("template <int N> struct A {{ int x; }};\n{specializations}{uses}"));
    let specializations = lines(10_000, &|n| format!("template <> constant int v<{n}> = {n};\n"));
    let uses = lines(10_000, &|n| format!("constant int b{n} = v<{n}>;\n"));
    cases.check(format!("template <int N> constant int v = 1;\n{specializations}{uses}"));
    cases.report();
}

/// Numbers as large as they get.
#[test]
fn huge_sizes() {
    let mut cases = Cases::default();
    for size in ["1000000000000", "9223372036854775807", "18446744073709551615ul", "4294967296", "2147483647"] {
        cases.check(format!("constant char a[{size}] = {{}};\nkernel void k(device char *o) {{ o[0] = a[1]; }}\n"));
        cases
            .check(format!("struct S {{ char a[{size}]; char b[{size}]; S *c; }};\nconstant int x = sizeof(S);\n"));
        cases.check(format!(
            "kernel void k(device int *o) {{ int a[{size}][{size}]; threadgroup int b[{size}]; o[0] = a[0][0] + b[0]; }}\n"
        ));
        cases.check(format!(
            "constexpr int f() {{ int a[{size}] = {{1}}; return a[1]; }}\nstatic_assert(f() == 0, \"\");\n"
        ));
        cases.check(format!(
            "template <int N> int f() {{ return N; }}\nkernel void k(device int *o) {{ o[0] = f<{size}>(); }}\n"
        ));
        cases.check(format!("constant int a[] = {{[{size}] = 1}};\n"));
        cases.check(format!("constant int a = 1 << {size};\nconstant int b = {size} * {size};\n"));
        cases.check(format!(
            "#include <metal_stdlib>\nkernel void k(device metal::array<int, {size}> *a [[buffer({size})]]) {{ (*a)[0] = 1; }}\n"
        ));
        cases.check(format!(
            "struct S {{ int b : {size}; }};\nenum E {{ e = {size}, f }};\nkernel void k() {{ switch (1) {{ case {size}: ; }} }}\n"
        ));
        cases.check(format!("constant float x = 1e{size}f;\nconstant int c [[function_constant({size})]];\n"));
    }
    cases.check(format!("constant int x = {};\n", "9".repeat(100_000)));
    cases.check(format!("constant float x = 0.{}1;\n", "0".repeat(100_000)));
    cases.check(format!("int {};\n", "a".repeat(1_000_000)));
    cases.report();
}

/// Macros that grow without end.
#[test]
fn giant_macros() {
    let mut cases = Cases::default();
    let mut doubling = String::from("#define A0 x x\n");
    for level in 1..64 {
        doubling += &format!("#define A{level} A{0} A{0}\n", level - 1);
    }
    cases.check(format!("{doubling}A63\n"));
    let mut arguments = String::from("#define F0(x) x x x x\n");
    for level in 1..32 {
        arguments += &format!("#define F{level}(x) F{0}(F{0}(x))\n", level - 1);
    }
    cases.check(format!("{arguments}F31(1)\n"));
    let mut pasting = String::from("#define P(a, b) a##b\n#define Q(a, b) P(a, b)\n#define B0 xx\n");
    for level in 1..40 {
        pasting += &format!("#define B{level} Q(B{0}, B{0})\n", level - 1);
    }
    cases.check(format!("{pasting}int B39;\n"));
    cases.check(format!(
        "#define S(x) #x\n#define T(x) S(x)\nconstant char s[] = {}\"a\"{};\n",
        "T(".repeat(500),
        ")".repeat(500)
    ));
    cases.check(format!("#define F(...) __VA_ARGS__\nF({})\n", "1,".repeat(100_000)));
    cases.check(format!("#define F({}) 1\n", (0..10_000).map(|n| format!("a{n}")).collect::<Vec<_>>().join(",")));
    cases.report();
}

/// Constant expressions that never end, or that eat memory.
#[test]
fn endless_constants() {
    let mut cases = Cases::default();
    let texts = [
        "constexpr int f() { while (true) {} return 1; }\nstatic_assert(f() == 1, \"\");\n",
        "constexpr int f(int n) { for (;;) n++; return n; }\nconstant int x = f(1);\n",
        "constexpr int f(int n) { return f(n + 1); }\nconstant int x = f(1);\n",
        "constexpr int g(int n);\nconstexpr int f(int n) { return g(n); }\nconstexpr int g(int n) { return f(n); }\nconstant int x = f(1);\n",
        "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconstant int x = f(100);\n",
        "constexpr int f() { int s = 0; for (int i = 0; i < 1000000000; i++) s ^= i; return s; }\nconstant int a[f()] = {};\n",
        "struct S { int a[1000]; };\nconstexpr int f() { S s[1000] = {}; S t[1000] = {}; for (;;) t[0] = s[1]; return 1; }\nconstant int x = f();\n",
        "constexpr long f(long n) { do { n = n * 3 + 1; } while (n != 0); return n; }\nenum { e = f(1) };\n",
    ];
    for text in texts {
        cases.check(text);
    }
    // A thousand that each end just before the limit.
    let many: String = (0..200).map(|n| format!("static_assert(f({n}) > 0, \"\");\n")).collect();
    cases.check(format!(
        "constexpr int f(int n) {{ int s = 1; for (int i = 0; i < 3000; i++) s ^= i * n; return s | 1; }}\n{many}"
    ));
    cases.report();
}

/// Programs that are long rather than deep.
#[test]
fn long_programs() {
    let mut cases = Cases::default();
    let functions: String = (0..3_000).map(|n| format!("int f{n}(int x) {{ return x + {n}; }}\n")).collect();
    cases.check(functions);
    let chain: String = (1..3_000).map(|n| format!("int f{n}(int x) {{ return f{}(x); }}\n", n - 1)).collect();
    cases.check(format!(
        "int f0(int x) {{ return x; }}\n{chain}kernel void k(device int *o) {{ o[0] = f2999(1); }}\n"
    ));
    let overloads: String = (0..300).map(|n| format!("struct S{n} {{}};\nvoid f(S{n});\n")).collect();
    let calls: String = (0..300).map(|n| format!("f(S{n}());\n")).collect();
    cases.check(format!("{overloads}kernel void k() {{ {calls} f(1); }}\n"));
    cases.check(format!("kernel void k(device int *o) {{ o[0] = 0{}; }}\n", " + 1".repeat(3_000)));
    cases.check(format!("constant int a[] = {{ {} }};\n", "1, ".repeat(50_000)));
    cases.check("}".repeat(20_000));
    cases.check("missing ".repeat(5_000));
    cases.check("@\u{0}`\u{e9}".repeat(2_000));
    cases.report();
}
