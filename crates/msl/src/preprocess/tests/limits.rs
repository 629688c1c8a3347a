//! Input that would run on without end, and input that makes no sense.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn ends_with(text: &str, expected: &str) {
    let shown = run_with(text, &Options::default());
    assert!(shown.ends_with(expected), "{}", &shown[..shown.len().min(500)]);
}

#[test]
fn doubling_macros_end() {
    let mut text = String::new();
    for i in 0..40 {
        text.push_str(&format!("#define A{i} A{} A{}\n", i + 1, i + 1));
    }
    ends_with(&(text + "A0 x"), "macro expansion makes too many tokens (more than 4000000)");
    let nested = format!("#define D(x) x x\n{}1{}", "D(".repeat(60), ")".repeat(60));
    ends_with(&nested, "macro expansion makes too many tokens (more than 4000000)");
}

#[test]
fn deep_macros_end() {
    let mut text = String::new();
    for i in 0..25_000 {
        text.push_str(&format!("#define A{i} A{}\n", i + 1));
    }
    ends_with(&(text.clone() + "A10000"), "A25000");
    ends_with(&(text + "A0"), "macro expansion is nested too deeply");
    let nested = |depth: usize| format!("#define F(x) x\n{}1{}", "F(".repeat(depth), ")".repeat(depth));
    check(&nested(200), "1");
    ends_with(&nested(5000), "macro arguments are nested too deeply");
    let parentheses = format!("#if {}1{}\n#endif", "(".repeat(5000), ")".repeat(5000));
    ends_with(&parentheses, "preprocessor expression is nested too deeply");
    ends_with(&format!("#if {}1\n#endif", "!".repeat(5000)), "preprocessor expression is nested too deeply");
    ends_with(&format!("#if {}1\n#endif", "1?1:".repeat(5000)), "preprocessor expression is nested too deeply");
    ends_with(&"#if 1\n".repeat(20_000), "unterminated conditional directive");
}

#[test]
fn a_flood_of_errors_is_cut() {
    let shown = run_with(&"`".repeat(50_000), &Options::default());
    assert_eq!(shown.lines().count(), 10_001);
}

/// Pieces that make trouble together.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "#",
        "##",
        "#define ",
        "#undef ",
        "#if ",
        "#ifdef ",
        "#else",
        "#elif ",
        "#endif",
        "#include ",
        "#pragma ",
        "unroll",
        "_Pragma",
        "defined",
        "__VA_ARGS__",
        "__VA_OPT__",
        "...",
        "(",
        ")",
        ",",
        "A",
        "B",
        "F",
        "F(",
        "F(x,y)",
        "G(...)",
        "x",
        "y",
        "\n",
        "\n",
        "\n#",
        " ",
        "\\\n",
        "\"",
        "'",
        "<",
        ">",
        "1",
        "0x",
        "1.e",
        "/*",
        "*/",
        "//",
        "+",
        "?",
        ":",
        "/",
        "__LINE__",
        "__has_include",
        "__COUNTER__",
        "\0",
        "\u{e9}",
        "R\"(",
        "-9223372036854775808",
    ];
    prop_oneof![8 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

proptest! {
    // The same cases in every run, of which there is nothing to note.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(1500)
    })]

    #[test]
    fn nonsense_never_panics(
        pieces in proptest::collection::vec(piece(), 0..60),
        start in proptest::sample::select(vec!["", "#define F(x,y) x##y #x y F\n#define A F(B,A) B\n#define B A\n#define G(...) __VA_OPT__(F)(__VA_ARGS__)\n"]),
    ) {
        let text = start.to_owned() + &pieces.concat();
        let mut sources = SourceMap::new();
        let main = sources.add_file("a.metal", None, text, None, false);
        let mut diagnostics = Vec::new();
        preprocess(&mut sources, main, &Options::default(), &mut diagnostics);
        for color in [false, true] {
            crate::diagnostics::render::render_all(&diagnostics, &sources, color);
        }
        crate::diagnostics::json::to_json(&diagnostics, &sources);
    }
}

#[test]
fn tokens_are_limited() {
    let message = "the program has more than 16000000 tokens";
    // Directives are no tokens for the parser, but take memory as well.
    ends_with(&"#undef a\n".repeat(5_400_000), message);
}

#[test]
fn text_that_doubles_ends() {
    let message = "macro expansion makes too many tokens (more than 4000000)";
    let nested = |name: &str| format!("{}a{}", format!("{name}(").repeat(60), ")".repeat(60));
    ends_with(&format!("#define S(x) #x\n#define X(x) S(x)\n{}", nested("X").replace('a', "\"\\\\\"")), message);
    ends_with(&format!("#define P(x) Q(x,x)\n#define Q(x,y) x##y\n{}", nested("P")), message);
}
