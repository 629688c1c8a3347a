//! Include guards: as in clang, a file wholly inside of `#ifndef NAME` is not opened again while `NAME` is defined.

use super::Preprocessor;
use super::includes::FileKey;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, Symbol, known};

impl Preprocessor<'_> {
    /// True if the file was read before, and reading it again would give nothing.
    pub(super) fn is_guarded(&self, file: &FileKey) -> bool {
        self.guards.get(file).is_some_and(|&guard| self.macro_named(guard).is_some())
    }

    /// Notes the guard of the file that was just opened.
    pub(super) fn remember_guard(&mut self, file: FileKey) {
        if let Some(guard) = self.frames.last().and_then(|frame| guard_of(&frame.tokens)) {
            self.guards.insert(file, guard);
        }
    }
}

/// The `NAME` of a first line `#ifndef NAME` whose `#endif` is the last, with no other branch between them.
fn guard_of(tokens: &[RawToken]) -> Option<Symbol> {
    let keyword = directive(tokens)?;
    let (&name, mut rest) = tokens.get(2..)?.split_first()?;
    let is_alone = rest.first().is_none_or(RawToken::start_of_line);
    if keyword != known::IFNDEF || name.kind != RawKind::Ident || name.start_of_line() || !is_alone {
        return None;
    }
    let mut depth = 1_usize;
    while !rest.is_empty() {
        match directive(rest) {
            Some(known::IF | known::IFDEF | known::IFNDEF) => depth += 1,
            Some(known::ELIF | known::ELIFDEF | known::ELIFNDEF | known::ELSE) if depth == 1 => return None,
            Some(known::ENDIF) if depth == 1 => return (rest.len() == 2).then_some(name.symbol),
            Some(known::ENDIF) => depth -= 1,
            _ => {}
        }
        rest = &rest[1..];
    }
    None
}

/// The word of the directive that `tokens` begin with.
fn directive(tokens: &[RawToken]) -> Option<Symbol> {
    let [hash, keyword, ..] = tokens else { return None };
    let is_directive = hash.is(Punct::Hash) && hash.start_of_line();
    (is_directive && keyword.kind == RawKind::Ident && !keyword.start_of_line()).then_some(keyword.symbol)
}
