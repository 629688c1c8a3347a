//! Directives: dispatch, and the conditional ones.

use super::{Preprocessor, behind};
use crate::diagnostics::Diagnostic;
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, known};
use crate::source::Span;

/// An open `#if`.
pub(super) struct Conditional {
    /// The word that opened it.
    pub(super) start: Span,
    /// One of its branches was taken: the rest are skipped.
    taken: bool,
    /// Its `#else` was seen.
    has_else: bool,
}

/// Mistake in the order of directives of a conditional.
enum Order {
    Fine,
    NotOpen,
    AfterElse,
}

impl Preprocessor<'_> {
    /// Executes the directive whose `#` was just read; returns the token of a pragma that is kept.
    pub(super) fn directive(&mut self) -> Option<RawToken> {
        let line = self.rest_of_line();
        let (&keyword, operands) = line.split_first()?;
        if keyword.kind == RawKind::Number {
            self.line_marker(keyword, operands);
            return None;
        }
        let embedded = [known::INCLUDE, known::IMPORT, known::INCLUDE_NEXT, known::PRAGMA];
        if self.collecting && embedded.contains(&keyword.symbol) && keyword.kind == RawKind::Ident {
            let name = self.symbols.text(keyword.symbol);
            let message = format!("embedding a #{name} directive within macro arguments is not supported");
            self.error("embedded-directive", keyword.span, message);
            return None;
        }
        match keyword.symbol {
            _ if keyword.kind != RawKind::Ident => self.invalid_directive(keyword),
            known::DEFINE => self.define(keyword, operands),
            known::UNDEF => self.undef(keyword, operands),
            known::INCLUDE | known::IMPORT | known::INCLUDE_NEXT => self.include(keyword, operands),
            known::IF => {
                let value = self.condition(keyword, operands);
                self.open_conditional(keyword, value);
            }
            known::IFDEF | known::IFNDEF => {
                let value = self.is_defined(keyword, operands) == (keyword.symbol == known::IFDEF);
                self.open_conditional(keyword, value);
            }
            known::ELIF | known::ELIFDEF | known::ELIFNDEF | known::ELSE => {
                if self.continue_conditional(keyword, operands) {
                    self.skip();
                }
            }
            known::ENDIF => self.close_conditional(keyword, operands),
            known::ERROR | known::WARNING => self.message(keyword, operands),
            known::LINE => self.line_directive(keyword, operands),
            known::IDENT | known::SCCS => {}
            known::PRAGMA => return self.pragma(keyword, operands),
            _ => self.invalid_directive(keyword),
        }
        None
    }

    fn invalid_directive(&mut self, keyword: RawToken) {
        self.error("invalid-directive", keyword.span, "invalid preprocessing directive");
    }

    /// `#error` and `#warning`: the rest of the line, as written.
    fn message(&mut self, keyword: RawToken, operands: &[RawToken]) {
        let message = match operands {
            [] => String::new(),
            [first, .., last] | [first @ last] => {
                let text = self.sources.text(Span { end: last.span.end, ..first.span });
                text.replace("\\\r\n", "").replace("\\\n", "")
            }
        };
        if keyword.symbol == known::ERROR {
            self.error("user-error", keyword.span, message);
        } else {
            self.warning("user-warning", keyword.span, message);
        }
    }

    /// Warns about operands that a directive does not take.
    pub(super) fn extra_tokens(&mut self, directive: &str, rest: &[RawToken]) {
        if let Some(first) = rest.first() {
            let message = format!("extra tokens at end of #{directive} directive");
            self.warning("extra-tokens", first.span, message);
        }
    }

    /// True if the operand of `#ifdef` and its relatives is a macro.
    fn is_defined(&mut self, keyword: RawToken, operands: &[RawToken]) -> bool {
        let Some(name) = self.macro_name(keyword, operands) else {
            // Without a name neither `#ifdef` nor `#ifndef` holds.
            return matches!(keyword.symbol, known::IFNDEF | known::ELIFNDEF);
        };
        let directive = self.symbols.name(keyword.symbol);
        self.extra_tokens(&directive, &operands[1..]);
        self.macro_named(name.symbol).is_some()
    }

    fn open_conditional(&mut self, keyword: RawToken, taken: bool) {
        self.conditionals.push(Conditional { start: keyword.span, taken, has_else: false });
        if !taken {
            self.skip();
        }
    }

    /// The innermost conditional that the current file opened.
    fn conditional(&mut self) -> Option<&mut Conditional> {
        let base = self.frames.last().map_or(0, |frame| frame.conditionals);
        self.conditionals.get_mut(base..).and_then(<[Conditional]>::last_mut)
    }

    fn close_conditional(&mut self, keyword: RawToken, operands: &[RawToken]) {
        self.extra_tokens("endif", operands);
        if self.conditional().is_some() {
            self.conditionals.pop();
        } else {
            self.error("conditional", keyword.span, "#endif without #if");
        }
    }

    /// `#elif` and `#else`: true if their branch is skipped.
    fn continue_conditional(&mut self, keyword: RawToken, operands: &[RawToken]) -> bool {
        let is_else = keyword.symbol == known::ELSE;
        let (order, taken) = match self.conditional() {
            None => (Order::NotOpen, true),
            Some(conditional) if conditional.has_else => (Order::AfterElse, true),
            Some(conditional) => {
                conditional.has_else |= is_else;
                (Order::Fine, conditional.taken)
            }
        };
        let name = self.symbols.name(keyword.symbol);
        match order {
            Order::NotOpen => {
                self.error("conditional", keyword.span, format!("#{name} without #if"));
                return false;
            }
            Order::AfterElse => self.error("conditional", keyword.span, format!("#{name} after #else")),
            Order::Fine => {}
        }
        if is_else {
            self.extra_tokens("else", operands);
        }
        let value = !taken
            && match keyword.symbol {
                known::ELIF => self.condition(keyword, operands),
                known::ELIFDEF => self.is_defined(keyword, operands),
                known::ELIFNDEF => !self.is_defined(keyword, operands),
                _ => true,
            };
        if let Some(conditional) = self.conditional() {
            conditional.taken |= value;
        }
        !value
    }

    /// Skips branches up to one that is taken, or the end of the conditional.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(keyword) = self.skip_to_directive() {
            match keyword.symbol {
                known::IF | known::IFDEF | known::IFNDEF => depth += 1,
                known::ENDIF if depth > 0 => depth -= 1,
                known::ENDIF => {
                    let line = self.rest_of_line();
                    self.close_conditional(keyword, &line);
                    return;
                }
                known::ELIF | known::ELIFDEF | known::ELIFNDEF | known::ELSE if depth == 0 => {
                    let line = self.rest_of_line();
                    if !self.continue_conditional(keyword, &line) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Moves behind the word of the next directive; `None` at the end of the file.
    fn skip_to_directive(&mut self) -> Option<RawToken> {
        let frame = self.frames.last_mut()?;
        while let Some(token) = frame.tokens.get(frame.next) {
            frame.next += 1;
            if token.is(Punct::Hash)
                && token.start_of_line()
                && let Some(&keyword) = frame.tokens.get(frame.next)
                && keyword.kind == RawKind::Ident
                && !keyword.start_of_line()
            {
                frame.next += 1;
                return Some(keyword);
            }
        }
        None
    }

    /// The operator `defined`, as `0` or `1`.
    pub(super) fn defined_operator(&mut self, operator: RawToken) -> RawToken {
        let mut name = self.next_unexpanded();
        let parenthesis = name.filter(|token| token.is(Punct::LParen));
        if parenthesis.is_some() {
            name = self.next_unexpanded();
        }
        let mut value = false;
        match name {
            Some(token) if token.kind == RawKind::Ident => value = self.macro_named(token.symbol).is_some(),
            Some(token) => self.error("macro-name", token.span, "macro name must be an identifier"),
            None => self.error("macro-name", behind(operator), "macro name missing"),
        }
        if let Some(parenthesis) = parenthesis {
            let closing = self.next_unexpanded();
            if !closing.is_some_and(|token| token.is(Punct::RParen)) && name.is_some() {
                let place = behind(name.unwrap_or(parenthesis));
                let error = Diagnostic::error("condition", place, "missing ')' after 'defined'");
                self.report(error.note(parenthesis.span, "to match this '('"));
            }
        }
        self.made_token(RawKind::Number, if value { "1" } else { "0" }, operator)
    }
}
