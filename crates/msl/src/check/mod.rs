//! From the syntax tree to a checked [`Program`].
//!
//! ```text
//! declare ─ every declaration in order: scopes, classes, functions, templates
//!    │  type_names   what a written type means           lookup       what a name means
//!    │  templates/   deduction, specialization, instantiation
//!    ├─ functions ─ signatures when a function is declared or chosen, bodies when they are needed
//!    │     statements   locals, switch, range_for
//!    │     expressions  paths, members, operators, arithmetic, assignment, casts, lambda
//!    │     calls        overload, deduce_call, constructors, convert, initialize, aggregates
//!    └─ kernels ─── what entry points may look like, and what their parameters are bound to
//! ```
//!
//! A template is checked twice: once as written, with its parameters unknown ([`Ty::DEPENDENT`] fits everywhere), so
//! that a mistake shows even if nobody uses it; and once for each set of arguments, by walking its tree again in a
//! scope where the parameters are bound. **Invariant:** [`Ty::ERROR`] and [`Ty::DEPENDENT`] silence every complaint that
//! involves them, so that one mistake gives one error.

mod access;
mod aggregates;
mod arithmetic;
mod assignment;
mod attributes;
mod auto_types;
mod bodies;
mod calls;
mod casts;
mod classes;
mod compose;
mod conditional;
mod constants;
mod constructors;
mod convert;
mod declare;
mod deduce_call;
mod expressions;
mod function_values;
mod functions;
mod initialize;
mod kernels;
mod lambda;
mod locals;
mod lookup;
mod members;
mod narrowing;
mod native;
mod operator_functions;
mod operators;
mod overload;
mod packs;
mod paths;
mod range_for;
mod recursion;
mod scope;
mod signatures;
mod statements;
mod suggest;
mod switch;
mod templates;
mod type_names;
mod type_traits;

use crate::diagnostics::{Diagnostic, Severity};
use crate::parse::ast;
use crate::preprocess::LanguageVersion;
use crate::program::{FunctionId, LocalId, Program, Value};
use crate::source::{SourceMap, Span};
use crate::types::{AddressSpace, QualTy, StructId, Ty, Types};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use scope::{ScopeId, Scopes};
use smol_str::SmolStr;
use std::collections::VecDeque;
use std::rc::Rc;

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

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        struct $name(u32);
    )* };
}

ids! {
    /// A function or function template, before its template arguments are known.
    EntityId,
    /// A class template.
    ClassTemplateId,
    /// An alias template.
    AliasTemplateId,
    /// A variable template.
    VarTemplateId,
}

/// A template argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum TemplateArg {
    Type(QualTy),
    /// A value of an integer, enum or `bool` type.
    Int(Ty, i128),
    /// A value that depends on a parameter not known yet.
    UnknownValue,
    /// A function, for a parameter that is a function pointer.
    Function(FunctionId),
    Template(ClassTemplateId),
    Pack(Vec<TemplateArg>),
}

/// A function or function template.
struct Entity<'a> {
    name: SmolStr,
    /// What stands before the name in messages: `metal::`, `Tile<8>::`.
    prefix: SmolStr,
    source: FunctionSource<'a>,
    /// The scope it is declared in.
    scope: ScopeId,
    /// The class it is a member of.
    class: Option<StructId>,
    /// The parameters of a template; `None` for an ordinary function.
    header: Option<&'a ast::TemplateHeader>,
    /// The types of an overload family of the standard library (`template <__each_floatn T> …`).
    family: Option<Rc<[Ty]>>,
    /// For a function of the standard library without a body.
    builtin: Option<SmolStr>,
    /// Explicit specializations.
    specializations: Vec<(Vec<TemplateArg>, EntityId)>,
    /// The signature for each set of template arguments; `None` where substitution failed.
    signatures: HashMap<Vec<TemplateArg>, Option<Rc<Signature<'a>>>>,
    /// The function for each set of template arguments.
    functions: HashMap<Vec<TemplateArg>, FunctionId>,
    access: ast::Access,
    span: Span,
}

/// Where a function's parameters and body come from.
#[derive(Clone, Copy)]
enum FunctionSource<'a> {
    Declared {
        /// The first declaration: default arguments, attributes.
        declaration: &'a ast::FunctionDecl,
        /// The declaration with the body, once it is seen.
        definition: Option<&'a ast::FunctionDecl>,
    },
    Lambda(&'a ast::Lambda),
}

impl<'a> FunctionSource<'a> {
    fn params(&self) -> &'a [ast::Param] {
        match self {
            FunctionSource::Declared { declaration, .. } => &declaration.params,
            FunctionSource::Lambda(lambda) => &lambda.params,
        }
    }

    /// The declaration that holds the body, or the only one.
    fn latest(&self) -> Option<&'a ast::FunctionDecl> {
        match self {
            FunctionSource::Declared { declaration, definition } => Some(definition.unwrap_or(declaration)),
            FunctionSource::Lambda(_) => None,
        }
    }

    fn first(&self) -> Option<&'a ast::FunctionDecl> {
        match self {
            FunctionSource::Declared { declaration, .. } => Some(declaration),
            FunctionSource::Lambda(_) => None,
        }
    }
}

/// The parameters and result of a function, with template arguments filled in.
struct Signature<'a> {
    params: Vec<SignatureParam<'a>>,
    /// What it returns; `None` while `auto` is not deduced.
    result: Option<Ty>,
    /// For a method: what `this` points to, with the qualifiers behind the parameter list.
    this: Option<QualTy>,
    /// The scope in which template parameters are bound.
    scope: ScopeId,
}

struct SignatureParam<'a> {
    ty: QualTy,
    name: Option<&'a ast::Ident>,
    default: Option<&'a ast::Expr>,
    /// It is a part of this parameter pack.
    pack: Option<&'a ast::Ident>,
    span: Span,
}

/// What the checker knows about a [`crate::program::Function`] besides what the program says.
struct Instance<'a> {
    entity: EntityId,
    args: Vec<TemplateArg>,
    signature: Rc<Signature<'a>>,
    body: BodyState,
    /// How many instantiations led to this one.
    depth: usize,
    /// Where it was first needed, and in which instantiation.
    request: Option<(Span, Option<Rc<Request>>)>,
}

/// What asked for an instantiation, and what that was itself made for.
struct Request {
    note: String,
    span: Span,
    parent: Option<Rc<Request>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BodyState {
    /// Nobody needs it yet.
    Unneeded,
    /// It is waiting in the queue.
    Queued,
    /// It is being checked right now.
    InProgress,
    Done,
}

/// What the checker knows about a struct besides what [`Types`] says.
struct Class<'a> {
    decl: Option<&'a ast::ClassDecl>,
    scope: ScopeId,
    /// Where the members of an instantiation are, and the arguments it was made with.
    template: Option<(ClassTemplateId, Vec<TemplateArg>)>,
    bases: Vec<StructId>,
    constructors: Vec<EntityId>,
    conversions: Vec<EntityId>,
    /// Parallel to the fields: the default initializers.
    field_inits: Vec<Option<&'a ast::Init>>,
    field_access: Vec<ast::Access>,
    /// Initializers of its base see these arguments unknown.
    has_dependent_base: bool,
    /// `S() = default;` stands beside other constructors.
    has_default_constructor: bool,
    /// Classes and functions that may use private members.
    friends: Vec<SmolStr>,
    state: ClassState,
    /// Variables captured by a lambda's closure.
    closure: Option<lambda::Closure>,
    /// What made it necessary: for notes.
    requested_at: Span,
    /// It is the pattern of a template, looked at with unknown arguments.
    is_pattern: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ClassState {
    Declared,
    InProgress,
    Complete,
}

/// The function whose body is being checked.
struct FunctionState {
    id: Option<FunctionId>,
    locals: Vec<crate::program::Local>,
    /// What it returns; `None` while `auto` is not deduced.
    result: Option<Ty>,
    this: Option<LocalId>,
    loops: u32,
    switches: u32,
    /// How many instantiations led to this function.
    depth: usize,
    /// The instantiation that it is.
    request: Option<Rc<Request>>,
    /// The result was deduced from a return statement.
    is_deduced: bool,
    is_kernel: bool,
    is_lambda: bool,
    used_locals: HashSet<LocalId>,
    /// The values of constants, for array sizes and template arguments.
    known_locals: HashMap<LocalId, Value>,
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
    class_templates: Vec<templates::ClassTemplate<'a>>,
    alias_templates: Vec<templates::AliasTemplate<'a>>,
    var_templates: Vec<templates::VarTemplate<'a>>,
    /// Functions whose bodies are wanted.
    queue: VecDeque<FunctionId>,
    function: FunctionState,
    /// Globals declared `extern` or as members, by the place where they are declared.
    global_inits: HashMap<crate::program::GlobalId, declare::GlobalInit<'a>>,
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

/// Nested instantiations at most, as clang has it.
const MAX_INSTANTIATION_DEPTH: usize = 256;
/// Instantiations in all: more is a runaway template.
const MAX_INSTANTIATIONS: u32 = 200_000;
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

    // --- diagnostics -------------------------------------------------------------------------------------------

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
        let scope = self.scopes.add(self.scope, scope::ScopeKind::Block);
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

impl FunctionState {
    /// Not inside a function.
    fn outside() -> FunctionState {
        FunctionState {
            id: None,
            locals: Vec::new(),
            result: None,
            this: None,
            loops: 0,
            switches: 0,
            depth: 0,
            request: None,
            is_deduced: false,
            is_kernel: false,
            is_lambda: false,
            used_locals: HashSet::default(),
            known_locals: HashMap::default(),
        }
    }
}

/// The truth of a constant, where it is known.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Int(i) => Some(*i != 0),
        Value::Float(f) => Some(*f != 0.0),
        Value::Null => Some(false),
        Value::Function(_) => Some(true),
        _ => None,
    }
}
