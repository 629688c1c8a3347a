//! `check(input, tokens and diagnostics)` for the preprocessor.

mod directives;
mod includes;
mod limits;
mod macros;

use super::*;
use crate::lex::token::TokenKind;

/// The tokens and diagnostics of `text`, one diagnostic per line after the tokens.
fn run_with(text: &str, options: &Options) -> String {
    let mut sources = SourceMap::new();
    let main = sources.add_file("a.metal", None, text, None, false);
    let mut diagnostics = Vec::new();
    let tokens = preprocess(&mut sources, main, options, &mut diagnostics);
    assert_eq!(tokens.last().map(|token| &token.kind), Some(&TokenKind::Eof));
    show(&tokens, &sources, &diagnostics)
}

fn show(tokens: &[Token], sources: &SourceMap, diagnostics: &[Diagnostic]) -> String {
    let mut lines = vec![tokens.iter().filter_map(spelling).collect::<Vec<_>>().join(" ")];
    for diagnostic in diagnostics {
        let mut line = String::new();
        if let Some(span) = diagnostic.span {
            let position = sources.line_column(sources.outermost(span));
            line = format!("{}:{}: ", position.line, position.column);
        }
        if diagnostic.severity == crate::diagnostics::Severity::Warning {
            line.push_str("warning: ");
        }
        lines.push(line + &diagnostic.message);
    }
    lines.join("\n")
}

fn spelling(token: &Token) -> Option<String> {
    Some(match &token.kind {
        TokenKind::Ident(text) => text.to_string(),
        TokenKind::Keyword(keyword) => keyword.text().into(),
        TokenKind::Int(int) => int.value.to_string(),
        TokenKind::Float(float) => format!("{:?}", float.value),
        TokenKind::Char(value) => format!("'{value}'"),
        TokenKind::Str(text) => format!("{text:?}"),
        TokenKind::Punct(punct) => punct.text().into(),
        TokenKind::Pragma(pragma) => format!("{pragma:?}"),
        TokenKind::Eof => return None,
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(run_with(text, &Options::default()), expected, "\n{text}");
}
