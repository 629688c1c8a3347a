//! Reporting errors and finding the place to carry on.

use super::{Failed, Parse, Parser};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;

impl Parser {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        const MOST: usize = 1000;
        if !self.gave_up {
            self.diagnostics.push(diagnostic);
        }
        // Further diagnostics would not help.
        if self.diagnostics.len() == MOST && !self.gave_up {
            self.give_up("too many errors emitted, stopping now");
        }
    }

    /// Reports an error at `span` and carries on.
    pub(super) fn error(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(id, span, message));
    }

    /// Reports an error at the current token and fails.
    pub(super) fn fail(&mut self, message: impl Into<String>) -> Failed {
        self.error("syntax", self.span(), message);
        Failed
    }

    /// Reports that Metal lacks something, at the current token.
    pub(super) fn unsupported(&mut self, message: impl Into<String>) {
        self.error("unsupported", self.span(), message);
    }

    /// Reports an exceeded limit and goes to the end: what follows would only repeat it.
    pub(super) fn give_up(&mut self, message: impl Into<String>) -> Failed {
        self.error("limit", self.span(), message);
        self.gave_up = true;
        self.jump(self.tokens.len() - 1);
        Failed
    }

    /// Takes `punct` or fails with "expected '…'".
    pub(super) fn expect(&mut self, punct: Punct) -> Parse<()> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.fail(format!("expected '{}'", punct.text())))
    }

    /// Takes `punct` or fails with "expected '(' after 'if'" or the like.
    pub(super) fn expect_after(&mut self, punct: Punct, what: &str) -> Parse<()> {
        if self.eat(punct) {
            return Ok(());
        }
        Err(self.fail(format!("expected '{}' after {what}", punct.text())))
    }

    /// Takes a closing bracket or fails, pointing at the opening one.
    pub(super) fn expect_closing(&mut self, close: Punct, open: Punct, opening: Span) -> Parse<()> {
        if self.eat(close) { Ok(()) } else { Err(self.expected_closing(close, open, opening)) }
    }

    pub(super) fn expected_closing(&mut self, close: Punct, open: Punct, opening: Span) -> Failed {
        let message = format!("expected '{}'", close.text());
        let note = format!("to match this '{}'", open.text());
        self.report(Diagnostic::error("syntax", self.span(), message).note(opening, note));
        Failed
    }

    /// Takes a `;`, or reports that it is missing behind the last token. Skips the next tokens only if they
    /// cannot begin a statement or declaration, so that a forgotten `;` is one error.
    pub(super) fn expect_semicolon(&mut self, message: &str) {
        if self.eat(Punct::Semi) {
            return;
        }
        let missing = Diagnostic::error("syntax", self.last_span.after(), message).suggest(";");
        self.report(missing);
        if !self.at_obvious_start() {
            self.skip_statement();
        }
    }

    /// A token that begins a statement or ends a block, and nothing else.
    fn at_obvious_start(&self) -> bool {
        match self.kind() {
            TokenKind::Eof | TokenKind::Punct(Punct::RBrace) => true,
            TokenKind::Keyword(keyword) => {
                use Keyword::*;
                !matches!(keyword, Operator | Sizeof | This | True | False | Nullptr | New | Delete | Throw)
            }
            _ => false,
        }
    }

    /// Skips the rest of a statement or declaration: past the next `;` or block, up to the next `}`.
    pub(super) fn skip_statement(&mut self) {
        loop {
            match self.kind() {
                TokenKind::Eof | TokenKind::Punct(Punct::RBrace) => return,
                TokenKind::Punct(Punct::Semi) => return self.bump(),
                TokenKind::Punct(Punct::LBrace) => {
                    self.skip_balanced();
                    self.eat(Punct::Semi);
                    return;
                }
                _ => self.skip_balanced(),
            }
        }
    }

    /// Skips the statement or declaration that began at `start` and failed at the current token: the failure may lie
    /// deep inside brackets, which are only seen as such from the start.
    pub(super) fn skip_failed(&mut self, start: usize) {
        if self.gave_up {
            return;
        }
        let failure = self.position;
        self.jump(start);
        while self.position < failure {
            let is_block = self.at(Punct::LBrace);
            self.skip_balanced();
            if is_block && self.position >= failure {
                self.eat(Punct::Semi);
                return;
            }
        }
        self.skip_statement();
    }

    /// Skips up to the `)` that closes the innermost open parenthesis, past it if it is there.
    pub(super) fn skip_past_parenthesis(&mut self) -> bool {
        loop {
            match self.kind() {
                TokenKind::Punct(Punct::RParen) => {
                    self.bump();
                    return true;
                }
                TokenKind::Eof | TokenKind::Punct(Punct::RBrace | Punct::LBrace | Punct::Semi) => {
                    return false;
                }
                _ => self.skip_balanced(),
            }
        }
    }
}
