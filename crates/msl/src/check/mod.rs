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
//! tables                   what is declared               state         the function at hand
//! ```
//!
//! A template is checked twice: once as written, with its parameters unknown ([`Ty::DEPENDENT`] fits everywhere), so
//! that a mistake shows even if nobody uses it; and once for each set of arguments, by walking its tree again in a
//! scope where the parameters are bound. **Invariant:** [`Ty::ERROR`] and [`Ty::DEPENDENT`] silence every complaint that
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

use crate::check::declarations::GlobalInit;
use crate::check::state::FunctionState;
use crate::check::tables::Entity;
use crate::check::tables::EntityId;
use crate::check::tables::Instance;
use crate::check::tables::ScopeId;
use crate::check::tables::Scopes;
use crate::check::tables::{AliasTemplate, Class, ClassTemplate, ScopeKind, VarTemplate};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::Severity;
use crate::parse::ast;
use crate::preprocess::LanguageVersion;
use crate::program::FunctionId;
use crate::program::LocalId;
use crate::program::Program;
use crate::source::SourceMap;
use crate::source::Span;
use crate::types::AddressSpace;
use crate::types::QualTy;
use crate::types::StructId;
use crate::types::Ty;
use crate::types::Types;
use rustc_hash::FxHashMap as HashMap;
use rustc_hash::FxHashSet as HashSet;
use std::collections::VecDeque;
/// How the checker is to work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckOptions {
    pub(crate) std: LanguageVersion,
    pub(crate) warnings: bool,
}

/// Checks a program; what is wrong with it is appended to `diagnostics`.
pub(crate) fn check(
    unit: &ast::TranslationUnit,
    sources: &SourceMap,
    options: CheckOptions,
    diagnostics: &mut Vec<Diagnostic>,
) -> Program {
    let mut checker = Checker::new(sources, options);
    checker.declare_all(&unit.decls);
    checker.finish();
    diagnostics.append(&mut checker.diagnostics);
    checker.program
}

struct Checker<'a> {
    sources: &'a SourceMap,
    options: CheckOptions,
    program: Program,
    scopes: Scopes,
    /// The innermost scope at the moment.
    scope: ScopeId,
    entities: Vec<Entity<'a>>,
    instances: Vec<Instance<'a>>,
    classes: Vec<Class<'a>>,
    class_templates: Vec<ClassTemplate<'a>>,
    alias_templates: Vec<AliasTemplate<'a>>,
    var_templates: Vec<VarTemplate<'a>>,
    /// Functions whose bodies are wanted.
    queue: VecDeque<FunctionId>,
    function: FunctionState,
    /// Globals declared `extern` or as members, by the place where they are declared.
    global_inits: HashMap<crate::program::GlobalId, GlobalInit<'a>>,
    diagnostics: Vec<Diagnostic>,
    /// The instantiations we are in, outermost first, for notes.
    instantiations: Vec<(String, Span)>,
    /// Calls between functions, for the recursion check.
    call_sites: HashMap<(FunctionId, FunctionId), Span>,
    /// How deep expressions, classes and templates are nested right now.
    depth: u32,
    /// All instantiations so far; bounds memory.
    instantiated: u32,
    /// An operand of `sizeof` or `decltype`: looked at for its type alone.
    unevaluated: bool,
    /// Calls in templates whose name was not declared where the template is: only the arguments' namespaces count for
    /// them, whatever is declared later.
    late_calls: HashSet<Span>,
    /// A limit was hit: nothing is instantiated any more, as after clang's fatal error.
    gave_up: Option<Diagnostic>,
    /// How many attempts we are in: what they complain about is not shown, so it need not be well worded.
    attempts: u32,
    /// Templates are being compared by made-up arguments: dimensions may be anything.
    is_ordering: bool,
    /// What `auto` stands for while a type with `auto` in it is resolved.
    auto_binding: Option<QualTy>,
    /// Functions that fill structs whose members have initializers.
    aggregate_constructors: HashMap<(StructId, Vec<bool>), FunctionId>,
    /// The tree being looked at is a template's pattern, or the body of one.
    in_pattern: bool,
}

/// Errors after which we stop, as clang does.
const MAX_ERRORS: usize = 200;

impl<'a> Checker<'a> {
    fn new(sources: &'a SourceMap, options: CheckOptions) -> Checker<'a> {
        Checker {
            sources,
            options,
            program: Program::default(),
            scopes: Scopes::new(),
            scope: ScopeId::GLOBAL,
            entities: Vec::new(),
            instances: Vec::new(),
            classes: Vec::new(),
            class_templates: Vec::new(),
            alias_templates: Vec::new(),
            var_templates: Vec::new(),
            queue: VecDeque::new(),
            function: FunctionState::outside(),
            global_inits: HashMap::default(),
            diagnostics: Vec::new(),
            instantiations: Vec::new(),
            call_sites: HashMap::default(),
            depth: 0,
            instantiated: 0,
            unevaluated: false,
            late_calls: HashSet::default(),
            gave_up: None,
            attempts: 0,
            is_ordering: false,
            auto_binding: None,
            aggregate_constructors: HashMap::default(),
            in_pattern: false,
        }
    }

    fn types(&self) -> &Types {
        &self.program.types
    }

    fn types_mut(&mut self) -> &mut Types {
        &mut self.program.types
    }

    fn finish(&mut self) {
        self.check_queued_bodies();
        self.refuse_recursion();
        // A limit that was hit where complaints are taken back must be heard of all the same.
        if let Some(limit) = self.gave_up.take()
            && !self.diagnostics.contains(&limit)
        {
            self.diagnostics.push(limit);
        }
    }

    /// Reports `diagnostic` with the instantiations that led to it.
    fn report(&mut self, mut diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Warning && !self.options.warnings {
            return;
        }
        // A mistake that does not depend on the arguments was reported for the template as written.
        let known = |old: &Diagnostic| {
            (old.id, old.span, &old.message) == (diagnostic.id, diagnostic.span, &diagnostic.message)
        };
        if !self.instantiations.is_empty() && self.diagnostics.iter().any(known) {
            return;
        }
        // As clang does: the first and last few of a long way.
        const SHOWN: usize = 5;
        let count = self.instantiations.len();
        for (index, (message, span)) in self.instantiations.iter().rev().enumerate() {
            if count <= 2 * SHOWN || index < SHOWN || index >= count - SHOWN {
                diagnostic = diagnostic.note(*span, message.clone());
            } else if index == SHOWN {
                let skipped = count - 2 * SHOWN;
                diagnostic = diagnostic.note(*span, format!("(skipping {skipped} contexts in backtrace)"));
            }
        }
        if self.diagnostics.len() < MAX_ERRORS && !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports that a limit is hit, the first time; from then on nothing is instantiated.
    fn give_up(&mut self, id: &'static str, span: Span, message: String) {
        if self.gave_up.is_some() {
            return;
        }
        // One note is enough: the way here is as long as the limit.
        let first = self.instantiations.first().cloned();
        let diagnostic = Diagnostic::error(id, span, message);
        let diagnostic = match first {
            Some((message, at)) => diagnostic.note(at, message),
            None => diagnostic,
        };
        self.gave_up = Some(diagnostic.clone());
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(id, span, message));
    }

    fn warn_about_unused(&mut self, state: &FunctionState, params: usize) {
        if !self.options.warnings || self.in_pattern {
            return;
        }
        for (index, local) in state.locals.iter().enumerate().skip(params) {
            let is_named = local.name.starts_with(|c: char| c.is_alphabetic() || c == '_');
            if is_named && !state.used_locals.contains(&LocalId(index as u32)) {
                self.warn("unused-variable", local.span, format!("unused variable '{}'", local.name));
            }
        }
    }

    fn warn(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(id, span, message));
    }

    /// Does `work` and takes back its complaints: for substitution failure that is not an error. Gives
    /// the first of them where there were errors.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T, Box<Diagnostic>> {
        let saved = std::mem::take(&mut self.diagnostics);
        self.attempts += 1;
        let result = work(self);
        self.attempts -= 1;
        let complaints = std::mem::replace(&mut self.diagnostics, saved);
        match complaints.into_iter().find(|d| d.severity == Severity::Error) {
            None => Ok(result),
            Some(first) => Err(Box::new(first)),
        }
    }

    /// Does `work` in another scope.
    fn in_scope<T>(&mut self, scope: ScopeId, work: impl FnOnce(&mut Self) -> T) -> T {
        let saved = std::mem::replace(&mut self.scope, scope);
        let result = work(self);
        self.scope = saved;
        result
    }

    /// Does `work` in a new block inside the current scope.
    fn in_block<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.scopes.add(self.scope, ScopeKind::Block);
        self.in_scope(scope, work)
    }

    /// Does `work` one level deeper, unless that is too deep.
    fn nested<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        const MAX_DEPTH: u32 = 1024;
        if self.depth >= MAX_DEPTH {
            self.give_up("too-deep", span, "this is nested too deeply".into());
            return None;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        Some(result)
    }

    fn name_of(&self, ty: Ty) -> String {
        self.types().name(ty)
    }

    /// That something is the thread's own goes without saying.
    fn name_of_qual(&self, ty: QualTy) -> String {
        let space = ty.space.filter(|space| *space != AddressSpace::Thread);
        self.types().qualified_name(QualTy { space, ..ty })
    }

    /// The type of an expression; for a place with its qualifiers.
    fn name_of_expr(&self, expr: &crate::program::Expr) -> String {
        match expr.is_place {
            true => self.name_of_qual(expr.ty),
            false => self.name_of(expr.ty.ty),
        }
    }

    fn entity(&self, id: EntityId) -> &Entity<'a> {
        &self.entities[id.0 as usize]
    }

    fn class(&self, id: StructId) -> &Class<'a> {
        &self.classes[id.0 as usize]
    }

    fn class_mut(&mut self, id: StructId) -> &mut Class<'a> {
        &mut self.classes[id.0 as usize]
    }
}
