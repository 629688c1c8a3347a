//! Every path that the documents name exists.

use std::path::Path;

const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Texts between backticks, outside fenced blocks.
fn code_spans(markdown: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut spans = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            spans.extend(line.split('`').skip(1).step_by(2));
        }
    }
    spans
}

/// Targets of links `[text](target)`.
fn link_targets(markdown: &str) -> Vec<&str> {
    let ends = markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    ends.map(|target| target.split('#').next().unwrap_or(target)).collect()
}

/// True if a code span is a path of this repository: it has a slash or a file extension, and no character that only
/// commands, code and other paths have.
fn is_path(span: &str) -> bool {
    let extensions = [".md", ".rs", ".toml", ".metal", ".sh", ".yml", ".lock"];
    let like_a_path = span.contains('/') || extensions.iter().any(|extension| span.ends_with(extension));
    let foreign = |c: char| c.is_whitespace() || "<>()[]{}$=:*,;\"".contains(c);
    like_a_path && !span.contains(foreign) && !span.starts_with(['-', '/', '~']) && !extensions.contains(&span)
}

#[test]
fn every_named_path_exists() {
    let mut missing = Vec::new();
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document)).expect(document);
        let links = link_targets(&text).into_iter().filter(|link| !link.is_empty() && !link.contains("://"));
        let paths: Vec<&str> = code_spans(&text).into_iter().filter(|span| is_path(span)).chain(links).collect();
        assert!(!paths.is_empty(), "{document} names no path: is this test still reading it right?");
        let gone = paths.into_iter().filter(|path| !root().join(path).exists());
        missing.extend(gone.map(|path| format!("{document} names {path}")));
    }
    assert!(missing.is_empty(), "not there: {missing:#?}");
}

#[test]
fn paths_are_distinguished_from_code() {
    for path in ["crates/msl", "crates/cli/src/main.rs", "README.md", "examples/", ".ci/run"] {
        assert!(is_path(path), "{path}");
    }
    for code in [
        "make test",
        "msl::compile",
        "[[buffer(0)]]",
        "-I",
        "<metal_stdlib>",
        "kernel",
        ".metal",
        "$HOME/x",
        "a / b",
    ] {
        assert!(!is_path(code), "{code}");
    }
}

#[test]
fn fenced_blocks_are_not_read() {
    assert_eq!(code_spans("a `b` c `d`\n```\n`e`\n```\n`f`"), ["b", "d", "f"]);
    assert_eq!(link_targets("[a](B.md) and [c](D.md#e)"), ["B.md", "D.md"]);
}
