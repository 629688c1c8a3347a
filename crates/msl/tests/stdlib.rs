//! Every function that the headers declare is called somewhere in `tests/files`.
//!
//! The headers are read with a scanner of their own, which knows just enough of the language to find declarations:
//! namespaces and classes are entered, bodies and initializers are skipped. A function without a body is a builtin, and
//! of those the checked programs say which were really called; the others must be named.

#[allow(dead_code, reason = "only the list of files is needed here, not their expectations")]
mod filetest;

use std::collections::{BTreeMap, BTreeSet};

/// Functions that no shader can call, or that no test has to.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("declval", "for decltype only"),
    ("__deduce_tensor", "behind tensor(data, extents)"),
    ("__magnitude", "behind __builtin_add_overflow and kin"),
    ("__store_exact", "behind __builtin_add_overflow and kin"),
    ("__add_exact", "behind __builtin_add_overflow"),
    ("__multiply_exact", "behind __builtin_mul_overflow"),
    ("__shufflevector", "behind __builtin_shufflevector"),
    ("__component_of", "behind __builtin_shufflevector"),
    ("__metal_simd_ballot", "behind simd_ballot"),
    ("__metal_simd_active_threads_mask", "behind simd_active_threads_mask"),
    ("__metal_quad_ballot", "behind quad_ballot"),
    ("__metal_quad_active_threads_mask", "behind quad_active_threads_mask"),
];

#[test]
fn every_function_is_called() {
    let declared = declared();
    assert!(declared.len() > 500, "the scanner found only {} functions", declared.len());
    let (words, builtins) = used();
    let mut missing: Vec<String> = Vec::new();
    for (name, function) in &declared {
        if EXCEPTIONS.iter().any(|(exception, _)| exception == name) {
            continue;
        }
        let called = match function {
            // A method has the name of its class, without that of the class's namespace.
            Function::Builtin => builtins.contains(name) || builtins.contains(method(name)),
            Function::Defined => words.contains(last(name)),
        };
        if !called {
            missing.push(format!("{name} ({function:?})"));
        }
    }
    assert!(
        missing.is_empty(),
        "{} of {} functions are never called:\n{}",
        missing.len(),
        declared.len(),
        missing.join("\n")
    );
    for (exception, _) in EXCEPTIONS {
        assert!(declared.contains_key(*exception), "there is no '{exception}' to make an exception of");
    }
}

#[test]
fn every_header_stands_alone() {
    for name in metalworks_msl::stdlib::header_names().filter(|name| !name.starts_with("__metal_math")) {
        for std in ["metal2.4", "metal3.1", "metal3.2", "metal4.0"] {
            let options = metalworks_msl::Options {
                std: std.parse().expect("it is a version"),
                ..metalworks_msl::Options::default()
            };
            let text = format!("#include <{name}>\n#include <{name}>\nkernel void k() {{}}\n");
            let compilation = metalworks_msl::compile_source("alone.metal", &text, &options);
            assert!(!compilation.has_errors(), "<{name}> with {std}:\n{}", compilation.render_diagnostics(false));
        }
    }
}

#[test]
fn the_scanner_finds_functions() {
    let text = "namespace metal {\ntemplate <__each_x T> T exp(T x = T(1));\nnamespace fast { float exp(float x); }\n\
                enum E { a = f(1) };\nclass C : B<g(1)> {\n public:\n  C(int n) : m(n) {}\n  void h() const { call(1); }\n  \
                int operator()(int n) const;\n  static int s();\n};\nMETAL_FUNC int i(int x) { return j(x); }\n}\n";
    let mut found = BTreeMap::new();
    scan(text, &mut found);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["C::C", "C::h", "C::s", "exp", "fast::exp", "i"]);
    assert_eq!(found["C::s"], Function::Builtin);
    assert_eq!(found["C::h"], Function::Defined);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Function {
    /// Declared only: the code generator knows it.
    Builtin,
    /// With a body somewhere.
    Defined,
}

/// All functions of the headers by their qualified names, without `metal::`.
fn declared() -> BTreeMap<String, Function> {
    let mut found = BTreeMap::new();
    for name in metalworks_msl::stdlib::header_names() {
        let text = metalworks_msl::stdlib::header(name).expect("it is there");
        scan(text, &mut found);
    }
    // <metal_math> includes these in two more namespaces.
    let mut math = BTreeMap::new();
    scan(metalworks_msl::stdlib::header("__metal_math_functions").expect("it is there"), &mut math);
    for name in math.into_keys() {
        found.insert(format!("fast::{name}"), Function::Builtin);
        found.insert(format!("precise::{name}"), Function::Builtin);
    }
    found
}

/// The words of all shaders that have a `(` or `<` behind them, and the builtins that their programs call.
fn used() -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut words, mut builtins) = (BTreeSet::new(), BTreeSet::new());
    let files = filetest::files_below(&filetest::files_dir());
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "metal")) {
        let (_, compilation) =
            filetest::compile(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        builtins.extend(
            compilation.program.functions.iter().filter_map(|f| f.builtin.as_deref()).map(without_arguments),
        );
        let text = std::fs::read_to_string(path).expect("it was read before");
        let tokens = tokens(&text);
        for pair in tokens.windows(2).filter(|pair| matches!(pair[1], "(" | "<" | "{")) {
            words.insert(pair[0].to_owned());
        }
        // A class object with constructor arguments: `sampler s(…)`.
        for triple in tokens.windows(3).filter(|triple| triple[2] == "(") {
            words.insert(triple[0].to_owned());
        }
    }
    (words, builtins)
}

/// Finds the functions that a header declares.
fn scan(text: &str, found: &mut BTreeMap<String, Function>) {
    let tokens = tokens(text);
    let mut scopes: Vec<String> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = declaration_end(&tokens, at);
        let declaration = &tokens[at..end];
        at = end + 1;
        match tokens.get(end) {
            Some(&"{") if let Some(name) = opened_scope(declaration) => scopes.push(name),
            Some(&"{") => {
                declare(declaration, &scopes, Function::Defined, found);
                at = skip_braces(&tokens, end);
            }
            Some(&"}") => _ = scopes.pop(),
            _ => declare(declaration, &scopes, Function::Builtin, found),
        }
    }
}

/// End of the declaration that begins at `at`: a `;`, `{` or `}` outside of parentheses.
fn declaration_end(tokens: &[&str], at: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            ";" | "{" | "}" if depth == 0 => return index,
            _ => {}
        }
    }
    tokens.len()
}

/// The name of the namespace or class that a `{` behind `declaration` opens; none for enums and functions.
fn opened_scope(declaration: &[&str]) -> Option<String> {
    let is_function =
        declaration.contains(&"(") && !declaration.iter().any(|token| matches!(*token, "struct" | "class"));
    let keyword = declaration.iter().rposition(|token| matches!(*token, "namespace" | "struct" | "class"))?;
    let is_enum = declaration.contains(&"enum");
    (!is_function && !is_enum).then(|| declaration.get(keyword + 1).copied().unwrap_or_default().to_owned())
}

fn declare(declaration: &[&str], scopes: &[String], kind: Function, found: &mut BTreeMap<String, Function>) {
    let Some(parenthesis) = parameters(declaration) else { return };
    let Some((before, &[name])) = declaration[..parenthesis].split_last_chunk::<1>() else { return };
    if name == "static_assert" {
        return;
    }
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let follows_a_type = before.last().is_none_or(|token| {
        token.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            || matches!(*token, ">" | "&" | "*" | ":")
    });
    let is_other = before.iter().any(|token| matches!(*token, "typedef" | "using" | "operator" | "=" | "enum"))
        || before.first() == Some(&"constant");
    if !is_name || !follows_a_type || is_other || name == "operator" {
        return;
    }
    let scopes = scopes.iter().map(String::as_str).filter(|scope| *scope != "metal");
    let name = scopes.chain([name]).collect::<Vec<_>>().join("::");
    let entry = found.entry(name).or_insert(kind);
    if kind == Function::Defined {
        *entry = kind;
    }
}

/// The `(` that begins the parameters: the first one outside of template arguments.
fn parameters(declaration: &[&str]) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in declaration.iter().enumerate() {
        match *token {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            "(" if depth == 0 => return Some(index),
            _ => {}
        }
    }
    None
}

fn skip_braces(tokens: &[&str], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match *token {
            "{" => depth += 1,
            "}" if depth == 1 => return index + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Words and single characters; no comments, no directives.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        if line.trim_start().starts_with('#') {
            continue;
        }
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length =
                if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
            let (token, behind) = rest.split_at(length);
            rest = behind;
            if !token.trim().is_empty() {
                tokens.push(token);
            }
        }
    }
    tokens
}

/// `texture2d::read` for `texture2d<float, access::read>::read`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}

/// The last two parts of a qualified name.
fn method(name: &str) -> &str {
    let class = name.rfind("::").and_then(|end| name[..end].rfind("::"));
    class.map_or(name, |start| &name[start + 2..])
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}
