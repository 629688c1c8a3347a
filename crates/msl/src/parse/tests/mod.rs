//! Tests of the parser: source on the left, the tree as [`super::dump`] writes it on the right.

mod classes;
mod declarations;
mod errors;
mod expressions;
mod headers;
mod limits;
mod soup;
mod spans;
mod statements;
mod templates;

use super::ast::TranslationUnit;
use super::{dump, parse};
use crate::diagnostics::{Diagnostic, Severity};
use crate::preprocess::{LanguageVersion, Options, preprocess};
use crate::source::SourceMap;

/// Preprocesses and parses a text without any library.
fn parse_text(text: &str) -> (TranslationUnit, Vec<Diagnostic>) {
    let (unit, diagnostics, _) = parse_with_sources(text);
    (unit, diagnostics)
}

fn parse_with_sources(text: &str) -> (TranslationUnit, Vec<Diagnostic>, SourceMap) {
    let mut sources = SourceMap::new();
    let main = sources.add_file("test.metal", None, text, None, false);
    let mut diagnostics = Vec::new();
    let tokens = preprocess(&mut sources, main, &Options::default(), &mut diagnostics);
    let unit = parse(tokens, LanguageVersion::default(), &mut diagnostics);
    (unit, diagnostics, sources)
}

#[track_caller]
fn dump_without_errors(text: &str) -> String {
    let (unit, diagnostics) = parse_text(text);
    assert_eq!(diagnostics, [], "{text}");
    dump::unit(&unit)
}

#[track_caller]
fn check_program(text: &str, expected: &str) {
    assert_eq!(dump_without_errors(text), expected, "{text}");
}

#[track_caller]
fn check_statement(text: &str, expected: &str) {
    let program = format!("void f() {{ {text} }}");
    assert_eq!(dump_without_errors(&program), format!("(function f void () {{{expected}}})"), "{text}");
}

#[track_caller]
fn check_expression(text: &str, expected: &str) {
    check_statement(&format!("{text};"), &format!("{expected};"));
}

/// Compares messages in the form `line:column error: message`.
#[track_caller]
fn check_errors(text: &str, expected: &[&str]) {
    let (_, diagnostics, sources) = parse_with_sources(text);
    let shown: Vec<String> = diagnostics.iter().map(|diagnostic| show(diagnostic, &sources)).collect();
    assert_eq!(shown, expected, "{text}");
}

fn show(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let position = sources.line_column(diagnostic.span.unwrap_or_default());
    let severity = match diagnostic.severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    format!("{}:{} {severity}: {}", position.line, position.column, diagnostic.message)
}
