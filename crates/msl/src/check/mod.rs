//! From the syntax tree to a checked [`Program`].
//!
//! ```text
//! declarations ─── namespaces, aliases, enums, variables, functions, in order
//!    ├─ classes         members, bases, layout            kernels       entry points and their bindings
//!    └─ statements ──── bodies, when they are needed
//!         └─ expressions ──┬── initialization             brace lists, aggregates, auto
//!                          ├── calls                      overloads, constructors, operators
//!                          └── conversions                ranks, and the code that converts
//! names                    what names and written types mean
//! templates                arguments, deduction, specialization, instantiation
//! ───────────────────────────────────────────────────────────────────────────────────
//! Tables                   what is declared               FunctionState, Position, Diagnostics
//! ```
//!
//! A template is checked twice: once as written, with its parameters unknown (`Ty::DEPENDENT` fits everywhere), so
//! that a mistake shows even if it is never used; and once for each set of arguments, by walking its tree again in a
//! scope where the parameters are bound. **Invariant:** `Ty::ERROR` and `Ty::DEPENDENT` silence every error that
//! involves them, so that one mistake gives one error.

mod calls;
mod classes;
mod conversions;
mod declarations;
mod expressions;
mod initialization;
mod kernels;
mod names;
mod state;
mod statements;
mod tables;
mod templates;

use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::preprocess::LanguageVersion;
use crate::program::Program;
use crate::source::{SourceMap, Span};
use state::{Diagnostics, FunctionState, Position};
use tables::{ScopeId, ScopeKind, Tables};

/// Options of the checker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckOptions {
    pub(crate) std: LanguageVersion,
    pub(crate) warnings: bool,
}

/// Checks a program; appends its errors and warnings to `diagnostics`.
pub(crate) fn check(
    unit: &ast::TranslationUnit,
    sources: &SourceMap,
    options: CheckOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    let mut checker = Checker {
        tables: Tables::new(sources, options.std),
        function: FunctionState::outside(),
        position: Position::new(),
        diagnostics: Diagnostics::new(options.warnings),
    };
    checker.declare_all(&unit.headers);
    checker.declare_all(&unit.decls);
    checker.check_queued_bodies();
    declarations::refuse_recursion(&checker.tables, &mut checker.diagnostics);
    diagnostics.append(&mut checker.diagnostics.into_list());
    checker.tables.into_program()
}

/// The walk over the tree. A question that one of the parts can answer is a method of that part; the methods here need
/// several of them, because they check a tree, report errors or instantiate templates.
struct Checker<'a> {
    tables: Tables<'a>,
    function: FunctionState,
    position: Position,
    diagnostics: Diagnostics,
}

impl<'a> Checker<'a> {
    /// Does `work` and drops its diagnostics: substitution failure is not an error. Returns the first error, if any.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, Box<Diagnostic>> {
        let outer = self.diagnostics.begin_attempt();
        let result = work(self);
        match self.diagnostics.end_attempt(outer) {
            None => Ok(result),
            Some(first) => Err(Box::new(first)),
        }
    }

    /// Does `work`, a conversion, where explicit conversion functions may be used.
    fn explicitly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.position.set_explicit(true);
        let result = work(self);
        self.position.set_explicit(saved);
        result
    }

    /// Does `work` in another scope.
    fn in_scope<T>(&mut self, scope: ScopeId, work: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.position.set_scope(scope);
        let result = work(self);
        self.position.set_scope(saved);
        result
    }

    /// Does `work` in a new block inside the current scope.
    fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.tables.scopes_mut().add(self.position.scope(), ScopeKind::Block);
        self.in_scope(scope, work)
    }

    /// Does `work` in the outermost block of a statement that the condition around it controls.
    fn in_controlled_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.tables.scopes_mut().add(self.position.scope(), ScopeKind::Controlled);
        self.in_scope(scope, work)
    }

    /// Does `work` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.position.is_too_deep() {
            self.diagnostics.give_up("too-deep", span, "this is nested too deeply".into());
            return None;
        }
        let depth = self.position.descend(1);
        let result = work(self);
        self.position.ascend_to(depth);
        Some(result)
    }
}
