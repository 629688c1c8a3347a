//! The preprocessor: from files to the tokens that the parser reads.
//!
//! ```text
//! file ── lex ──> frame ── directives ──> unexpanded tokens ── expand ──> tokens ── finish ──> Vec<Token>
//!                   ^           │                                  │
//!                   └─ include ─┘             contexts <── substitute
//! ```
//!
//! Macros expand as in clang: an expansion is a *context* on a stack, its macro is disabled until the context is
//! popped, and a disabled name is painted so that it never expands again. The tokens of all contexts lie in one
//! `Vec`, because contexts end in the opposite order in which they begin; an expansion allocates nothing.
//!
//! **Invariant:** whatever the input, the work is bounded: by `limits`, reported as diagnostics.

mod conditions;
mod define;
mod directives;
mod expand;
mod finish;
mod floats;
mod guards;
mod includes;
mod language_version;
mod line;
mod loops;
mod macros;
mod pack;
mod pragmas;
mod substitute;

#[cfg(test)]
mod tests;

pub use language_version::{LanguageVersion, MathFunctions, MathMode, UnknownLanguageVersion};

use crate::diagnostics::Diagnostic;
use crate::lex::token::{Pragma, Punct, Token};
use crate::lex::{RawKind, RawToken, Symbol, Symbols};
use crate::source::{ExpansionId, FileId, Presumed, SourceMap, Span};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// Options of the preprocessor.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories that `#include` searches, in order.
    pub include_dirs: Vec<PathBuf>,
    /// Macros: a name, or `name(parameters)`, and its body; without one it is `1`.
    pub defines: Vec<(String, Option<String>)>,
    /// The version of the language.
    pub std: LanguageVersion,
    /// Math mode.
    pub math: MathMode,
    /// Variant of the mathematical functions; `None` for that of the mode.
    pub math_functions: Option<MathFunctions>,
}

/// Limits that end a runaway preprocessor.
mod limits {
    /// Tokens made by macro expansion, in all.
    pub(super) const EXPANDED_TOKENS: usize = 4_000_000;
    /// Tokens handed to the parser.
    pub(super) const TOKENS: usize = crate::lex::MAX_TOKENS;
    /// Macros being expanded at a time: each one's last token is the next one's name.
    pub(super) const OPEN_EXPANSIONS: usize = 20_000;
    /// Macro calls in arguments of macro calls.
    pub(super) const ARGUMENT_DEPTH: usize = 256;
    /// Files open at a time; clang's number.
    pub(super) const INCLUDE_DEPTH: usize = 200;
    /// Files included, in all.
    pub(super) const INCLUDED_FILES: usize = 10_000;
    /// Bytes of one included file.
    pub(super) const FILE_BYTES: u64 = 16 << 20;
    /// Bytes of all included files.
    pub(super) const INCLUDED_BYTES: usize = 64 << 20;
    /// Parentheses and unary operators inside each other in `#if`.
    pub(super) const CONDITION_DEPTH: usize = 256;
    /// Diagnostics; further ones are dropped.
    pub(super) const DIAGNOSTICS: usize = 10_000;
}

/// Preprocesses the file `main`: the tokens end with `Eof`. After a limit is hit, `Eof` is the only token.
pub fn preprocess(
    sources: &mut SourceMap,
    main: FileId,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Token> {
    let mut preprocessor = Preprocessor {
        sources,
        diagnostics,
        options,
        symbols: Symbols::new(),
        macros: Vec::new(),
        frames: Vec::new(),
        conditionals: Vec::new(),
        contexts: Vec::new(),
        arena: Vec::new(),
        argument_pool: Vec::new(),
        pragmas: Vec::new(),
        packing: pack::Packing::default(),
        once: HashSet::new(),
        guards: HashMap::new(),
        counter: 0,
        included_files: 0,
        included_bytes: 0,
        expanded_tokens: 0,
        argument_depth: 0,
        collecting: false,
        in_condition: false,
        stopped: false,
        scratch: String::new(),
    };
    preprocessor.start(main);
    preprocessor.finish(main)
}

struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    diagnostics: &'a mut Vec<Diagnostic>,
    options: &'a Options,
    symbols: Symbols,
    /// By symbol.
    macros: Vec<Option<Rc<macros::Macro>>>,
    /// The files being read, the main file first.
    frames: Vec<Frame>,
    /// The open `#if`s of all frames.
    conditionals: Vec<directives::Conditional>,
    /// The expansions being read.
    contexts: Vec<expand::Context>,
    /// The tokens of all contexts.
    arena: Vec<RawToken>,
    /// Arguments that are not in use, kept for their memory.
    argument_pool: Vec<expand::Arguments>,
    pragmas: Vec<Pragma>,
    packing: pack::Packing,
    /// Files with `#pragma once`.
    once: HashSet<includes::FileKey>,
    /// Files that are empty if their guard macro is defined.
    guards: HashMap<includes::FileKey, Symbol>,
    counter: u64,
    included_files: usize,
    included_bytes: usize,
    expanded_tokens: usize,
    argument_depth: usize,
    /// Reading a macro's arguments.
    collecting: bool,
    /// Expanding the operand of `#if`, where `defined` is an operator.
    in_condition: bool,
    /// A limit was hit.
    stopped: bool,
    scratch: String,
}

/// A file being read.
struct Frame {
    file: FileId,
    tokens: Rc<Vec<RawToken>>,
    /// Index of the next token.
    next: usize,
    /// Number of conditionals open when it began.
    conditionals: usize,
}

impl Preprocessor<'_> {
    /// Opens the main file, and on top of it the macros that exist from the start.
    fn start(&mut self, main: FileId) {
        self.push_frame(main);
        let command_line = self.command_line_definitions();
        if !command_line.is_empty() {
            let file = self.sources.add_file("<command line>", None, command_line, None, false);
            self.push_frame(file);
        }
        self.define_builtins();
        let built_in = self.sources.add_file("<built-in>", None, self.predefined(), None, true);
        self.push_frame(built_in);
    }

    fn push_frame(&mut self, file: FileId) {
        let lexed = crate::lex::lex(&self.sources.file(file).text, file, &mut self.symbols);
        if lexed.is_cut
            && let Some(last) = lexed.tokens.last()
        {
            self.stop(too_many_tokens(last.span));
        }
        if let Some(span) = lexed.unterminated_comment {
            self.error("unterminated-comment", span, "unterminated /* comment");
        }
        let conditionals = self.conditionals.len();
        self.frames.push(Frame { file, tokens: Rc::new(lexed.tokens), next: 0, conditionals });
    }

    /// The next token, from the innermost expansion or the file; executes directives on the way. `None` at the end
    /// of the program, of tokens being expanded on their own, or of a file while arguments are read.
    #[inline]
    fn next_unexpanded(&mut self) -> Option<RawToken> {
        while let Some(context) = self.contexts.last_mut() {
            if context.next < context.end {
                let token = self.arena[context.next];
                context.next += 1;
                return Some(token);
            }
            if context.is_barrier() {
                return None;
            }
            self.pop_context();
        }
        self.next_in_file()
    }

    #[inline]
    fn next_in_file(&mut self) -> Option<RawToken> {
        if let Some(frame) = self.frames.last_mut()
            && let Some(&token) = frame.tokens.get(frame.next)
            && !(token.is(Punct::Hash) && token.start_of_line())
            && !self.stopped
        {
            frame.next += 1;
            return Some(token);
        }
        self.next_in_file_after_directives()
    }

    /// The rare part of [`Self::next_in_file`], kept apart as the other part runs for every token.
    #[inline(never)]
    fn next_in_file_after_directives(&mut self) -> Option<RawToken> {
        loop {
            if self.stopped {
                return None;
            }
            let frame = self.frames.last_mut()?;
            match frame.tokens.get(frame.next) {
                Some(&token) => {
                    frame.next += 1;
                    if !(token.is(Punct::Hash) && token.start_of_line()) {
                        return Some(token);
                    }
                    if let Some(pragma) = self.directive() {
                        return Some(pragma);
                    }
                }
                None if self.collecting => return None,
                None => self.leave_file(),
            }
        }
    }

    fn leave_file(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for conditional in self.conditionals.split_off(frame.conditionals).iter().rev() {
            let message = "unterminated conditional directive";
            self.report(Diagnostic::error("unterminated-conditional", conditional.start, message));
        }
    }

    /// The tokens up to the end of the line, which are consumed.
    fn rest_of_line(&mut self) -> Line {
        let Some(frame) = self.frames.last_mut() else {
            return Line::default();
        };
        let start = frame.next;
        let rest = &frame.tokens[start..];
        let length = rest.iter().position(RawToken::start_of_line).unwrap_or(rest.len());
        frame.next = start + length;
        Line { tokens: Rc::clone(&frame.tokens), start, end: start + length }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < limits::DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    fn error(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(id, span, message));
    }

    fn warning(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(id, span, message));
    }

    /// Reports that a limit is hit, once, and ends the program there.
    fn stop(&mut self, diagnostic: Diagnostic) {
        if !std::mem::replace(&mut self.stopped, true) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Spelling of `token`.
    fn text(&self, token: RawToken) -> &str {
        match token.kind {
            RawKind::Punct(punct) => punct.text(),
            RawKind::Parameter | RawKind::VaOpt | RawKind::Placemarker | RawKind::Pragma => "",
            _ => self.symbols.text(token.symbol),
        }
    }

    /// A token that is not in the source, in the place of `token`.
    fn made_token(&mut self, kind: RawKind, text: &str, token: RawToken) -> RawToken {
        let symbol = self.symbols.intern(text);
        RawToken { span: token.span, symbol, kind, flags: 0 }.spaced_like(token)
    }

    /// Place of `span` in the program, as the user counts lines.
    fn place_of(&self, span: Span) -> Presumed<'_> {
        self.sources.presumed(self.sources.outermost(span))
    }
}

fn too_many_tokens(span: Span) -> Diagnostic {
    Diagnostic::error("token-limit", span, format!("the program has more than {} tokens", limits::TOKENS))
}

/// The operands of a directive.
#[derive(Default)]
struct Line {
    tokens: Rc<Vec<RawToken>>,
    start: usize,
    end: usize,
}

impl std::ops::Deref for Line {
    type Target = [RawToken];

    fn deref(&self) -> &[RawToken] {
        &self.tokens[self.start..self.end]
    }
}

/// An empty span behind `token`.
fn behind(token: RawToken) -> Span {
    Span { expansion: ExpansionId::NONE, ..token.span }.after()
}
