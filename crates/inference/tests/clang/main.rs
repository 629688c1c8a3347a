//! A second front end for the shaders: clang checks each of them as C++14, with declarations of Metal's library
//! (`include`) written for this test. It catches invalid C++ and mismatched types or address spaces that our front end
//! misses.
//!
//! ```text
//! Shader::source ── rewrite: three constructs that C++ lacks ── clang -fsyntax-only -Werror must accept
//! mistakes ── clang and our front end must reject
//! traps of fast math: valid Metal that fails on GPUs ── clang must reject
//! agreement.metal: a call of every function in `include` ── clang and our front end must accept
//! ```
//!
//! On a Mac, Apple's compiler does this.
#![cfg(not(target_os = "macos"))]

mod compiler;
mod mistakes;
mod rewrite;

use compiler::{Clang, in_parallel};
use metalworks_inference::metal::kernels;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the diagnostics of our front end, including warnings; empty if it accepts the text.
fn front_end(name: &str, text: &str) -> String {
    let options = msl::Options { warnings: true, ..msl::Options::default() };
    let compilation = msl::compile_source(name, text, &options);
    compilation.render_diagnostics(false)
}

#[test]
fn clang_accepts_every_shader() {
    let clang = Clang::find();
    let mut shaders: BTreeMap<String, String> =
        kernels::ALL.iter().map(|kernel| (kernel.shader.name.into(), kernel.shader.source.into())).collect();
    assert!(shaders.contains_key("attention") && shaders.contains_key("sampling"), "{:?}", shaders.keys());
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for entry in examples.read_dir().expect("the folder of examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_some_and(|extension| extension == "metal") {
            let text = std::fs::read_to_string(&path).expect("examples are text");
            shaders.insert(path.file_stem().expect("a name").to_string_lossy().into_owned(), text);
        }
    }
    assert!(shaders.contains_key("add_arrays"), "{:?}", shaders.keys());
    let results = in_parallel(shaders.iter(), |(name, source)| (name, clang.check(&rewrite::for_clang(source))));
    for (name, diagnostics) in results {
        assert!(diagnostics.is_none(), "clang rejects {name}.metal:\n{}", diagnostics.unwrap_or_default());
    }
}

#[test]
fn clang_and_front_end_reject_mistakes() {
    let clang = Clang::find();
    assert_eq!(clang.check(&rewrite::for_clang(mistakes::RIGHT)), None, "the kernel without a mistake is valid");
    assert_eq!(front_end("right.metal", mistakes::RIGHT), "");
    let found = in_parallel(mistakes::MISTAKES.iter(), |mistake| {
        let text = mistake.text();
        (mistake, clang.check(&rewrite::for_clang(&text)), front_end("wrong.metal", &text))
    });
    let mut problems = Vec::new();
    for (mistake, clang_says, we_say) in found {
        let name = mistake.name;
        match clang_says {
            Some(message) if message.contains(mistake.clang_says) => (),
            Some(message) => problems.push(format!("{name}: clang says\n{message}")),
            None => problems.push(format!("{name}: clang accepts it")),
        }
        if we_say.is_empty() {
            problems.push(format!("{name}: our front end accepts it"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Metal that compiles but fails on GPUs only: the CPU's fast functions are more precise than Apple's.
#[test]
fn clang_rejects_traps_of_fast_math() {
    let clang = Clang::find();
    let traps =
        ["tanh(four.x)", "sin(four.x)", "cos(four.x)", "tan(four.x)", "sincos(four.x, sine)", "isnan(four.x)"];
    let right = mistakes::RIGHT.replace("float4 four", "float sine = 0.0f; float4 four").replace("four.w", "sine");
    let accepted = in_parallel(traps.iter(), |trap| {
        let text = right.replace("exp(four.x)", &format!("float({trap})"));
        assert_eq!(front_end("trap.metal", &text), "", "{trap}");
        let message = clang.check(&rewrite::for_clang(&text)).unwrap_or_default();
        (!message.contains("is deprecated")).then_some(format!("{trap}: {message}"))
    });
    assert_eq!(accepted.into_iter().flatten().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn declarations_agree_with_those_of_the_front_end() {
    let calls = include_str!("agreement.metal");
    assert_eq!(front_end("agreement.metal", calls), "", "our front end declares these differently");
    // agreement.metal also calls the traps, which are deprecated.
    let all = format!("#pragma clang diagnostic ignored \"-Wdeprecated-declarations\"\n{calls}");
    let diagnostics = Clang::find().check(&rewrite::for_clang(&all));
    assert_eq!(diagnostics, None, "the headers for clang declare these differently");

    let called: BTreeSet<&str> = words(calls).collect();
    let declared = compiler::headers().into_iter().flat_map(|(_, text)| function_names(&text));
    let missing: BTreeSet<String> = declared.filter(|name| !called.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "agreement.metal does not call {missing:?}");
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the names of the functions in a header: lowercase words before a parenthesis, except those in `OWN` and
/// `CPP`.
fn function_names(header: &str) -> Vec<String> {
    const OWN: &[&str] = &[
        "address_space",
        "components",
        "construct",
        "decltype",
        "deprecated",
        "element",
        "ext_vector_type",
        "sizeof",
    ];
    const CPP: &[&str] =
        &["__attribute__", "__builtin_bit_cast", "__builtin_inff", "__builtin_nanf", "static_assert"];
    let code = header.lines().map(|line| line.split("//").next().unwrap_or_default());
    let code =
        code.filter(|line| !line.starts_with("#define ") || line.contains('\\')).collect::<Vec<_>>().join("\n");
    let mut names = Vec::new();
    for (at, _) in code.match_indices('(') {
        let name = words(&code[..at]).last().unwrap_or_default();
        let is_name = code[..at].ends_with(name) && name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        if is_name && !OWN.contains(&name) && !CPP.contains(&name) {
            names.push(name.to_owned());
        }
    }
    names
}
