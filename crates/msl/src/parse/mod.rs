//! From tokens to the syntax tree.
//!
//! ```text
//! tokens ── declarations ─┬─ specifiers ── types, classes, enums
//!                         ├─ declarators ── parameters
//!                         ├─ templates                         names (what is a type, a template, a value)
//!                         └─ statements ── expressions         paths (names with `::` and `<…>`)
//! ```
//!
//! Recursive descent over the token array. C++ cannot be parsed without knowing which names are types and which are
//! templates, so the parser keeps the scopes of the program ([`names`]); the checker resolves the names.
//!
//! A production answers `Failed` once it has reported an error; the nearest statement, member or declaration then
//! skips to its end and carries on, so that one mistake gives one message. Where the grammar needs to look ahead
//! without limit, `Parser::attempt` tries a production and takes it back. Failures are remembered by position:
//! each production fails at each token at most once, which keeps nested attempts from doubling the work per level.

mod ambiguities;
pub mod ast;
mod attributes;
mod builtin_functions;
mod classes;
mod declarations;
mod declarators;
mod depth;
pub mod dump;
mod enums;
mod expressions;
mod function_rules;
mod functions;
mod headers;
mod initializers;
mod lambdas;
mod late;
pub mod names;
pub mod names_in;
mod namespaces;
mod operators;
mod parameters;
mod paths;
mod primary;
mod recovery;
mod specifiers;
mod statements;
mod templates;
mod tokens;
mod types;
mod value_or;

#[cfg(test)]
mod tests;

use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Pragma, Token, TokenKind};
use crate::preprocess::LanguageVersion;
use crate::source::Span;
use ast::TranslationUnit;
use depth::Depth;
use late::LateBody;
use names::{Names, ScopeId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use smol_str::SmolStr;

/// Begins the names of the functions that stand for deduction guides.
pub(crate) const GUIDE: &str = "__deduce_";

/// Brackets, statements, declarators and operators may be nested this deep; clang's default.
const MAX_NESTING: u32 = 256;

/// Chains such as `a + b + c` or `if (a) b; else if (c) d;`, also those in each other's operands, may have this many
/// links from the root to a leaf.
const MAX_CHAIN: u32 = 4096;

/// Parses a program. `tokens` ends in [`crate::lex::token::TokenKind::Eof`].
pub fn parse(tokens: Vec<Token>, std: LanguageVersion, diagnostics: &mut Vec<Diagnostic>) -> TranslationUnit {
    parse_after_headers(tokens, 0, std, diagnostics)
}

/// As [`parse`]. The first `headers` tokens are of headers, which other programs are likely to have as well.
pub(crate) fn parse_after_headers(
    mut tokens: Vec<Token>,
    headers: usize,
    std: LanguageVersion,
    diagnostics: &mut Vec<Diagnostic>,
) -> TranslationUnit {
    let (has_coherence, has_guides) = (std >= LanguageVersion::new(3, 2), std >= LanguageVersion::new(4, 0));
    let headers = if headers::are_plain(&tokens[..headers]) { headers } else { 0 };
    let known = headers::find(&tokens[..headers], (has_coherence, has_guides));
    if known.is_some() {
        tokens = tokens.split_off(headers);
    }
    if std < LanguageVersion::new(2, 3) {
        take_restrict_for_a_keyword(&mut tokens);
    }
    let mut parser = Parser::new(tokens);
    parser.has_coherence = has_coherence;
    parser.has_guides = has_guides;
    let unit = match known {
        Some(known) => {
            parser.continue_after(&known);
            TranslationUnit { headers: known.decls(), ..parser.translation_unit(0) }
        }
        None => parser.translation_unit(headers),
    };
    parser.refuse_stray_loop_pragmas();
    diagnostics.append(&mut parser.diagnostics);
    unit
}

/// As Metal before 2.3 does, like C.
fn take_restrict_for_a_keyword(tokens: &mut [Token]) {
    for token in tokens {
        if matches!(&token.kind, TokenKind::Ident(name) if name == "restrict") {
            token.kind = TokenKind::Keyword(Keyword::Restrict);
        }
    }
}

/// An error was reported; the caller passes this on up to a place that can carry on.
#[derive(Clone, Copy, Debug)]
struct Failed;

type Parse<T> = Result<T, Failed>;

/// A production that is tried and may be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Attempt {
    CastType,
    Constructor,
    Declaration,
    OperandType,
    Parameters,
    TemplateArguments,
    TypeArgument,
}

/// A state to return to.
#[derive(Clone, Copy)]
struct Mark {
    position: usize,
    split: u8,
    last_span: Span,
    scope: ScopeId,
    diagnostics: usize,
    late: usize,
}

struct Parser {
    /// Without pragmas; ends in `Eof`.
    tokens: Vec<Token>,
    /// The pragmas that stand before a token.
    pragmas: HashMap<usize, Vec<Pragma>>,
    /// Values of `#pragma pack`, by the position that each holds from.
    packing: Vec<(usize, Option<u8>)>,
    /// `#pragma METAL fp …` in force in the current function.
    fp_pragmas: Vec<SmolStr>,
    /// Positions of loops with pragmas.
    annotated_loops: HashSet<usize>,
    /// For each opening bracket the position of its closing one.
    closing: HashMap<usize, usize>,
    position: usize,
    /// Number of characters of the current token already used: `>>` closes two template argument lists.
    split: u8,
    /// The span of the token before the current one.
    last_span: Span,
    diagnostics: Vec<Diagnostic>,
    names: Names,
    /// Scope in which names are looked up and declared.
    scope: ScopeId,
    depth: Depth,
    /// `>` closes a template argument list and is no operator.
    greater_closes: bool,
    /// Inside a template argument, an array bound, `decltype` and the like, which have no lambdas. That is more than
    /// a rule of C++14: it keeps statements out of all that is read twice.
    is_unevaluated: bool,
    /// `coherent` is a qualifier, from Metal 3.2 on.
    has_coherence: bool,
    /// Deduction guides can be written, from Metal 4 on.
    has_guides: bool,
    /// Number of open classes around the current token, within the innermost function body.
    open_classes: u32,
    /// Bodies of member functions, to be parsed when the outermost class is complete.
    late: Vec<LateBody>,
    /// Attempts that failed, with their positions.
    failures: HashSet<(Attempt, usize)>,
    /// A limit was exceeded: no further diagnostics.
    gave_up: bool,
    /// Number of unnamed types that got names.
    unnamed: u32,
}

impl Parser {
    fn new(all_tokens: Vec<Token>) -> Parser {
        let (tokens, pragmas) = tokens::set_pragmas_aside(all_tokens);
        let closing = tokens::closing_brackets(&tokens);
        Parser {
            closing,
            packing: tokens::packing(&pragmas),
            fp_pragmas: Vec::new(),
            annotated_loops: HashSet::default(),
            pragmas,
            position: 0,
            split: 0,
            last_span: tokens[0].span,
            tokens,
            diagnostics: Vec::new(),
            names: Names::new(),
            scope: ScopeId::ROOT,
            depth: Depth::default(),
            greater_closes: false,
            is_unevaluated: false,
            has_coherence: false,
            has_guides: false,
            open_classes: 0,
            late: Vec::new(),
            failures: HashSet::default(),
            gave_up: false,
            unnamed: 0,
        }
    }

    fn mark(&self) -> Mark {
        Mark {
            position: self.position,
            split: self.split,
            last_span: self.last_span,
            scope: self.scope,
            diagnostics: self.diagnostics.len(),
            late: self.late.len(),
        }
    }

    fn reset(&mut self, mark: Mark) {
        // After a limit the parser stands at the end for good, and its message stays.
        if self.gave_up {
            return;
        }
        self.position = mark.position;
        self.split = mark.split;
        self.last_span = mark.last_span;
        self.scope = mark.scope;
        self.diagnostics.truncate(mark.diagnostics);
        self.late.truncate(mark.late);
    }

    /// Tries `production`; where it fails, everything is as before.
    fn attempt<T>(&mut self, what: Attempt, production: impl FnOnce(&mut Self) -> Parse<T>) -> Option<T> {
        let key = (what, self.position);
        if self.failures.contains(&key) {
            return None;
        }
        let mark = self.mark();
        match production(self) {
            Ok(value) => Some(value),
            Err(Failed) => {
                self.reset(mark);
                self.failures.insert(key);
                None
            }
        }
    }

    /// Runs `production` with `>` as an operator, as inside any kind of brackets, or as a closing bracket.
    fn with_greater_closing<T>(&mut self, closes: bool, production: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.greater_closes, closes);
        let result = production(self);
        self.greater_closes = before;
        result
    }

    /// Runs `production` where lambdas are not allowed.
    fn unevaluated<T>(&mut self, production: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_unevaluated, true);
        let result = production(self);
        self.is_unevaluated = before;
        result
    }

    /// Runs `production` in `scope`.
    fn in_scope<T>(&mut self, scope: ScopeId, production: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.scope, scope);
        let result = production(self);
        self.scope = before;
        result
    }
}
