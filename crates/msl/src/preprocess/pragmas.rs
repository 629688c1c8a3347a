//! `#pragma` and `_Pragma`: those that later stages use are kept as tokens.

use super::Preprocessor;
use crate::diagnostics::Severity;
use crate::lex::token::{DiagnosticPragma, Pragma, Punct, WarningSetting};
use crate::lex::{RawKind, RawToken, Symbol, known};
use crate::source::Span;
use crate::vocabulary::{self, Effect};
use smol_str::SmolStr;

impl Preprocessor<'_> {
    /// `#pragma operands`: a token if it is kept.
    pub(super) fn pragma(&mut self, keyword: RawToken, operands: &[RawToken]) -> Option<RawToken> {
        if operands.first().is_some_and(|first| is_word(first, known::ONCE)) {
            self.pragma_once(operands[0]);
            return None;
        }
        let end = operands.last().map_or(keyword.span, |last| last.span);
        let pragma = self.meaning(operands)?;
        Some(self.pragma_token(keyword.span.to(end), pragma))
    }

    fn pragma_token(&mut self, span: Span, pragma: Pragma) -> RawToken {
        self.pragmas.push(pragma);
        let symbol = Symbol(self.pragmas.len() as u32 - 1);
        RawToken { span, symbol, kind: RawKind::Pragma, flags: RawToken::LEADING_SPACE }
    }

    /// `_Pragma("…")`, whose name was just read.
    pub(super) fn pragma_operator(&mut self, name: RawToken) -> Option<RawToken> {
        let open = self.next_unexpanded();
        let string = if open.is_some_and(|t| t.is(Punct::LParen)) { self.next_expanded() } else { None };
        let string = string.filter(|t| t.kind == RawKind::Str && !t.has(RawToken::UNTERMINATED));
        let close = if string.is_some() { self.next_expanded() } else { None };
        let (Some(string), Some(_)) = (string, close.filter(|t| t.is(Punct::RParen))) else {
            self.error("pragma", name.span, "_Pragma takes a parenthesized string literal");
            return None;
        };
        let text = crate::lex::string(self.text(string), string.span, true, &mut Vec::new());
        let mut tokens = crate::lex::lex(&text, name.span.file, &mut self.symbols).tokens;
        for token in &mut tokens {
            token.span = string.span;
        }
        if tokens.first().is_some_and(|first| is_word(first, known::ONCE)) {
            self.pragma_once(name);
            return None;
        }
        let pragma = self.meaning(&tokens)?;
        Some(self.pragma_token(name.span, pragma))
    }

    /// Meaning of a pragma; `None` if nothing of it is kept.
    fn meaning(&mut self, words: &[RawToken]) -> Option<Pragma> {
        let (first, rest) = words.split_first()?;
        let texts: Vec<String> = words.iter().take(3).map(|&word| self.text(word).to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Some(word) = vocabulary::pragma(&texts) else {
            self.warning("unknown-pragmas", first.span, "unknown pragma ignored");
            return None;
        };
        if let Effect::Refused(reason) = word.effect {
            let message = format!("'#pragma {}' is not supported: {reason}", texts[0]);
            self.error("pragma", first.span, message);
            return None;
        }
        match (texts[0], texts.get(1).copied(), rest.get(1..)) {
            ("unroll", ..) => self.unroll(rest, first.span),
            ("nounroll", ..) => Some(Pragma::UnrollDisable),
            ("pack", ..) => self.pack(rest, first.span),
            ("message", ..) => self.pragma_message(Severity::Warning, rest, *first),
            ("STDC", _, Some(operand)) => self.standard(operand, first.span),
            ("clang", Some("loop"), Some(options)) => self.clang_loop(options),
            ("clang" | "METAL", Some("fp"), Some(options)) => self.fp(options, texts[0] == "METAL", first.span),
            ("clang" | "GCC", Some("diagnostic"), Some(operand)) => self.diagnostic_pragma(operand, rest[0]),
            ("clang" | "GCC", Some("warning"), Some(text)) => self.pragma_message(Severity::Warning, text, rest[0]),
            ("clang" | "GCC", Some("error"), Some(text)) => self.pragma_message(Severity::Error, text, rest[0]),
            ("clang" | "GCC", Some("system_header"), _) => Some(Pragma::Diagnostic(DiagnosticPragma::SystemHeader)),
            _ => None,
        }
    }

    /// `message("text")` or `message "text"`.
    fn pragma_message(&mut self, severity: Severity, operand: &[RawToken], keyword: RawToken) -> Option<Pragma> {
        let mut tokens = Vec::new();
        self.expand_alone(operand, &mut tokens);
        tokens.retain(|token| !token.is(Punct::LParen) && !token.is(Punct::RParen));
        if tokens.is_empty() || tokens.iter().any(|token| token.kind != RawKind::Str) {
            let name = self.text(keyword).to_string();
            let message = format!("pragma {name} requires parenthesized string");
            self.error("pragma", keyword.span, message);
            return None;
        }
        let parts =
            tokens.iter().map(|&token| crate::lex::string(self.text(token), token.span, true, &mut Vec::new()));
        let text: String = parts.map(|part| part.to_string()).collect();
        match severity {
            Severity::Warning => self.warning("pragma-message", keyword.span, text),
            Severity::Error => self.error("user-error", keyword.span, text),
        }
        None
    }

    /// `diagnostic push`, `diagnostic ignored "-Wname"` and the like, the words behind `diagnostic`.
    fn diagnostic_pragma(&mut self, operand: &[RawToken], keyword: RawToken) -> Option<Pragma> {
        let action = operand.first().map(|&word| self.text(word).to_string());
        let setting = match action.as_deref() {
            Some("push") => return Some(Pragma::Diagnostic(DiagnosticPragma::Push)),
            Some("pop") => return Some(Pragma::Diagnostic(DiagnosticPragma::Pop)),
            Some("ignored") => WarningSetting::Ignored,
            Some("warning") => WarningSetting::Warning,
            Some("error" | "fatal") => WarningSetting::Error,
            _ => {
                let message = "pragma diagnostic expected 'error', 'warning', 'ignored', 'fatal', 'push', or 'pop'";
                self.warning("unknown-pragmas", keyword.span, message);
                return None;
            }
        };
        let name = match operand {
            [_, name] if name.kind == RawKind::Str => {
                crate::lex::string(self.text(*name), name.span, true, &mut Vec::new())
            }
            _ => {
                self.warning("unknown-pragmas", keyword.span, "unexpected token in pragma diagnostic");
                return None;
            }
        };
        match name.strip_prefix("-W") {
            Some(name) => Some(Pragma::Diagnostic(DiagnosticPragma::Set(SmolStr::new(name), setting))),
            None => {
                let message = "pragma diagnostic expected option name (e.g. \"-Wundef\")";
                self.warning("unknown-pragmas", operand[1].span, message);
                None
            }
        }
    }
}

pub(super) fn is_word(token: &RawToken, word: Symbol) -> bool {
    token.kind == RawKind::Ident && token.symbol == word
}
