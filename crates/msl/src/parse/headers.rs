//! Headers that programs begin with are parsed once in a process.
//!
//! ```text
//! tokens of a program = those of its headers, then the rest
//!                          │ the same as before: declarations and names of then
//!                          └ new: parsed, and kept
//! ```
//!
//! The standard library is far longer than most programs. A tree depends on nothing but the tokens, their spans and the
//! version of the language: whatever files the spans mean, a program that begins with the same tokens has the same
//! declarations, and the parser then knows the same names.

use super::ast::{Decl, DeclKind};
use super::names::Names;
use super::{Parser, ScopeId};
use crate::lex::token::{Punct, Token, TokenKind};
use crate::source::Span;
use std::sync::{Arc, Mutex, PoisonError};

/// Different headers that are kept: those of several versions of the language, or of several files.
const MOST_KEPT: usize = 6;

/// Headers that were parsed without an error, the latest first.
static KEPT: Mutex<Vec<Arc<Headers>>> = Mutex::new(Vec::new());

/// Headers, and the state of the parser after them.
pub(super) struct Headers {
    tokens: Vec<Token>,
    version: (bool, bool),
    decls: Arc<Vec<Decl>>,
    names: Names,
    last_span: Span,
    unnamed: u32,
}

fn kept() -> std::sync::MutexGuard<'static, Vec<Arc<Headers>>> {
    // Each change of the list is one call.
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if positions in the parser's array are those among `tokens`: nothing was taken out.
pub(super) fn are_plain(tokens: &[Token]) -> bool {
    tokens.iter().all(|token| match &token.kind {
        TokenKind::Pragma(_) => false,
        TokenKind::Ident(name) => name != "__extension__",
        _ => true,
    })
}

/// The headers with these tokens, if they were parsed before.
pub(super) fn find(tokens: &[Token], version: (bool, bool)) -> Option<Arc<Headers>> {
    let candidates: Vec<Arc<Headers>> = kept().clone();
    let found = candidates.into_iter().find(|kept| kept.version == version && kept.tokens == tokens)?;
    let mut kept = kept();
    if let Some(index) = kept.iter().position(|other| Arc::ptr_eq(other, &found)) {
        kept[..=index].rotate_right(1);
    }
    Some(found)
}

impl Headers {
    pub(super) fn decls(&self) -> Arc<Vec<Decl>> {
        Arc::clone(&self.decls)
    }
}

impl Parser {
    fn version(&self) -> (bool, bool) {
        (self.has_coherence, self.has_guides)
    }

    /// Goes on after `headers`.
    pub(super) fn continue_after(&mut self, headers: &Headers) {
        self.names = headers.names.clone();
        self.last_span = headers.last_span;
        self.unnamed = headers.unnamed;
    }

    /// Keeps the declarations up to the current token, unless what comes after may have changed them.
    pub(super) fn keep_headers(&mut self, decls: &mut Vec<Decl>) -> Arc<Vec<Decl>> {
        // A semicolon ends a declaration, and a brace a namespace, whatever follows.
        let is_complete = match decls.last() {
            Some(Decl { kind: DeclKind::Namespace { .. }, .. }) => true,
            last => last.is_some() && self.tokens[self.position - 1].kind == TokenKind::Punct(Punct::Semi),
        };
        if !is_complete || !self.diagnostics.is_empty() || self.scope != ScopeId::ROOT || self.gave_up {
            return Arc::default();
        }
        let headers = Headers {
            tokens: self.tokens[..self.position].to_vec(),
            version: self.version(),
            decls: Arc::new(std::mem::take(decls)),
            names: self.names.clone(),
            last_span: self.last_span,
            unnamed: self.unnamed,
        };
        let decls = headers.decls();
        let mut kept = kept();
        kept.truncate(MOST_KEPT - 1);
        kept.insert(0, Arc::new(headers));
        decls
    }
}
