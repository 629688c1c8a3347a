//! A second opinion on the shaders: clang reads every one of them as C++14, with declarations of Metal's library
//! (`include`) that were written for this test. What our own front end accepts although it is not even C++, or although
//! types or address spaces do not fit, is refused here.
//!
//! ```text
//! Shader::source ── rewrite: three things that C++ cannot be told ── clang -fsyntax-only -Werror
//! mistakes ──┬──────────────────────────────────────────────────── clang must refuse
//!            └─ our front end must refuse
//! traps ── of fast mathematics: right, but not what a GPU should be asked; clang must refuse
//! agreement.metal: every function of `include`, accepted by clang and by our front end
//! ```
//!
//! On a Mac, Apple's own compiler has this say.
#![cfg(not(target_os = "macos"))]

mod compiler;
mod mistakes;
mod rewrite;

use compiler::{Clang, in_parallel};
use inference::metal::kernels;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What our front end says of a text, warnings included; nothing where it accepts it.
fn front_end(name: &str, text: &str) -> String {
    let options = msl::Options { warnings: true, ..msl::Options::default() };
    let compilation = msl::compile_source(name, text, &options);
    compilation.render_diagnostics(false)
}

#[test]
fn every_shader_is_accepted() {
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
    let complaints = in_parallel(shaders.iter(), |(name, source)| (name, clang.check(&rewrite::for_clang(source))));
    for (name, complaint) in complaints {
        assert!(complaint.is_none(), "clang refuses {name}.metal:\n{}", complaint.unwrap_or_default());
    }
}

#[test]
fn mistakes_are_refused() {
    let clang = Clang::find();
    assert_eq!(
        clang.check(&rewrite::for_clang(mistakes::RIGHT)),
        None,
        "what mistakes are made in is right itself"
    );
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

/// Metal that compiles and then fails on GPUs alone: the processor's fast functions are better than Apple's.
#[test]
fn traps_of_fast_mathematics_are_refused() {
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
fn the_declarations_agree_with_those_of_the_front_end() {
    let calls = include_str!("agreement.metal");
    assert_eq!(front_end("agreement.metal", calls), "", "our front end declares these differently");
    // Those that no shader should call are there all the same.
    let all = format!("#pragma clang diagnostic ignored \"-Wdeprecated-declarations\"\n{calls}");
    let complaint = Clang::find().check(&rewrite::for_clang(&all));
    assert_eq!(complaint, None, "clang was told of these differently");

    let called: BTreeSet<&str> = words(calls).collect();
    let declared = compiler::headers().into_iter().flat_map(|(_, text)| function_names(&text));
    let missing: BTreeSet<String> = declared.filter(|name| !called.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "agreement.metal does not call {missing:?}");
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Words before a parenthesis that are names of functions: macros are in capitals, helpers of our own in `OWN`.
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
