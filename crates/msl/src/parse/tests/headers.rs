//! Headers that are parsed once.

use super::super::{dump, parse, parse_after_headers};
use super::TranslationUnit;
use crate::diagnostics::Diagnostic;
use crate::lex::token::Token;
use crate::preprocess::{LanguageVersion, Options, preprocess};
use crate::source::SourceMap;
use std::sync::Arc;

const VERSION: LanguageVersion = LanguageVersion::new(3, 1);

/// The tokens of a program, and how many of them are of headers.
fn tokens(text: &str) -> (Vec<Token>, usize) {
    let mut sources = SourceMap::new();
    let main = sources.add_file("test.metal", None, text, None, false);
    let options = Options { std: VERSION, ..Options::default() };
    let tokens = preprocess(&mut sources, main, &options, &mut Vec::new());
    let headers = tokens.iter().take_while(|token| sources.file(token.span.file).builtin).count();
    (tokens, headers)
}

fn parsed(text: &str) -> (TranslationUnit, Vec<Diagnostic>) {
    let (tokens, headers) = tokens(text);
    let mut diagnostics = Vec::new();
    let unit = parse_after_headers(tokens, headers, VERSION, &mut diagnostics);
    (unit, diagnostics)
}

const PROGRAMS: [&str; 6] = [
    "using namespace metal;\nkernel void k(device float4 *o) { o[0] = min(vec<float, 4>(1), o[1]); }",
    "struct float9 { int a; }; namespace metal { struct later {}; } metal::later x; struct S { later y; };",
    "; template <typename T> struct array { T a; }; metal::array<int, 2> a; array<int> b;",
    "} int f( { int g() { return metal::clamp(1, 2, 3) }",
    "#pragma unroll\nint x;\n#pragma pack(1)\nstruct P { char c; int i; };",
    "",
];

#[test]
fn programs_are_the_same_after_kept_headers() {
    for program in PROGRAMS {
        for macros in ["", "#define METAL_FUNC static\n", "#define unrelated 1\n", "int before;\n"] {
            let text = format!("{macros}#include <metal_stdlib>\n{program}");
            let mut diagnostics = Vec::new();
            let unit = parse(tokens(&text).0, VERSION, &mut diagnostics);
            for _ in 0..2 {
                let (again, messages) = parsed(&text);
                assert!(dump::unit(&again) == dump::unit(&unit), "{text}");
                assert_eq!(messages, diagnostics, "{text}");
            }
        }
    }
}

#[test]
fn headers_are_parsed_once() {
    let shared = |_| {
        let [first, second] = [PROGRAMS[0], PROGRAMS[3]].map(|program| {
            let (unit, _) = parsed(&format!("#include <metal_stdlib>\n{program}"));
            assert!(!unit.headers.is_empty());
            unit.headers
        });
        Arc::ptr_eq(&first, &second)
    };
    // Another test may need many headers in between.
    assert!((0..100).any(shared));
}
