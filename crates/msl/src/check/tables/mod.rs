//! The tables: everything that is declared or instantiated, and the program so far.
//!
//! ```text
//! scopes ──── names ──> ids ──┬── functions   entities, their instances, the queue of bodies
//!                             ├── classes     members, bases
//!                             ├── templates   of classes, aliases and variables; their arguments
//!                             └── globals
//! types, native, text         questions about types; types that the compiler defines; names for messages
//! ```
//!
//! Other areas add questions of their own in `impl Tables` blocks, which see the tables and no other part.
//! **Invariant:** the fields are visible in this folder alone, and nothing here knows the checker.

mod classes;
mod functions;
mod globals;
mod ids;
mod native;
mod scopes;
mod templates;
mod text;
mod types;

pub(super) use classes::{Class, ClassState, Closure};
pub(super) use functions::{BodyState, Entity, FunctionSource, Instance, Request, Signature, SignatureParam};
pub(super) use globals::GlobalInit;
pub(super) use ids::{AliasTemplateId, ClassTemplateId, EntityId, VarTemplateId};
pub(super) use native::{NativeTemplate, native_template, native_type};
pub(super) use scopes::{ScopeId, ScopeKind, Symbol};
pub(super) use templates::{
    AliasTemplate, ClassTemplate, Specialization, Specializations, TemplateArg, VarTemplate,
};

use crate::parse::ast;
use crate::preprocess::LanguageVersion;
use crate::program::{EntryPoint, FunctionId, GlobalId, IntersectionFunction, Program, Value, VisibleFunction};
use crate::source::{SourceMap, Span};
use crate::types::{Enum, EnumId, StructId, Ty, Types};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use scopes::Scopes;
use smol_str::SmolStr;
use std::collections::VecDeque;

/// Subject of an explicit instantiation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Instantiated {
    Function(FunctionId),
    Class(Ty),
}

pub(super) struct Tables<'a> {
    sources: &'a SourceMap,
    program: Program,
    scopes: Scopes,
    entities: Vec<Entity<'a>>,
    /// Parallel to the program's functions.
    instances: Vec<Instance<'a>>,
    /// Functions whose bodies are needed and not checked yet.
    queue: VecDeque<FunctionId>,
    /// Parallel to the structs of [`Types`].
    classes: Vec<Class<'a>>,
    /// The scopes that declare the enums of [`Types`], parallel to these.
    enum_scopes: Vec<ScopeId>,
    class_templates: Vec<ClassTemplate<'a>>,
    alias_templates: Vec<AliasTemplate<'a>>,
    var_templates: Vec<VarTemplate<'a>>,
    /// Number of instantiations so far.
    instantiations: u32,
    /// Initializers of static members that have not been used yet.
    global_inits: HashMap<GlobalId, GlobalInit<'a>>,
    in_initialization: HashSet<GlobalId>,
    /// Constructors of class templates, as functions that deduce the arguments.
    constructor_guides: HashMap<ClassTemplateId, Vec<EntityId>>,
    /// Functions that fill structs whose members have initializers, by the fields that are given.
    aggregate_constructors: HashMap<(StructId, Vec<bool>), FunctionId>,
    /// Type aliases with the attribute `aligned`, and their alignments.
    aligned_aliases: HashMap<(ScopeId, SmolStr), u64>,
    /// Constants of functions, for the bodies of lambdas and local classes, which use them without a capture.
    local_constants: HashMap<(ScopeId, SmolStr), (Ty, Value)>,
    /// First call from one function to another, for the recursion check.
    call_sites: HashMap<(FunctionId, FunctionId), Span>,
    /// Calls in templates whose name was not declared where the template is: only the arguments' namespaces count for
    /// them, whatever is declared later.
    late_calls: HashSet<Span>,
    /// Functions and classes that were explicitly instantiated, and where.
    explicit_instantiations: HashMap<Instantiated, Span>,
    /// `deprecated` and kin of variables and members, by their names' places.
    notices: HashMap<Span, Vec<&'a ast::Attribute>>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(sources: &'a SourceMap, std: LanguageVersion) -> Tables<'a> {
        Tables {
            sources,
            program: Program { std, ..Program::default() },
            scopes: Scopes::new(),
            entities: Vec::new(),
            instances: Vec::new(),
            queue: VecDeque::new(),
            classes: Vec::new(),
            enum_scopes: Vec::new(),
            class_templates: Vec::new(),
            alias_templates: Vec::new(),
            var_templates: Vec::new(),
            instantiations: 0,
            global_inits: HashMap::default(),
            in_initialization: HashSet::default(),
            constructor_guides: HashMap::default(),
            aggregate_constructors: HashMap::default(),
            aligned_aliases: HashMap::default(),
            local_constants: HashMap::default(),
            call_sites: HashMap::default(),
            late_calls: HashSet::default(),
            explicit_instantiations: HashMap::default(),
            notices: HashMap::default(),
        }
    }

    pub(super) fn sources(&self) -> &'a SourceMap {
        self.sources
    }

    /// True if `span` is in a header of the standard library.
    pub(super) fn is_in_stdlib(&self, span: Span) -> bool {
        self.sources.file(span.file).builtin
    }

    pub(super) fn std(&self) -> LanguageVersion {
        self.program.std
    }

    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn into_program(self) -> Program {
        self.program
    }

    pub(super) fn types(&self) -> &Types {
        &self.program.types
    }

    pub(super) fn types_mut(&mut self) -> &mut Types {
        &mut self.program.types
    }

    /// Adds an enum that is declared in a scope.
    pub(super) fn add_enum(&mut self, definition: Enum, scope: ScopeId) -> Ty {
        self.enum_scopes.push(scope);
        self.types_mut().add_enum(definition).1
    }

    pub(super) fn scope_of_enum(&self, id: EnumId) -> ScopeId {
        self.enum_scopes[id.0 as usize]
    }

    pub(super) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    pub(super) fn scopes_mut(&mut self) -> &mut Scopes {
        &mut self.scopes
    }

    pub(super) fn add_entry_point(&mut self, entry: EntryPoint) {
        self.program.entry_points.push(entry);
    }

    /// Lists the latest entry point as a function of ray tracing.
    pub(super) fn add_intersection_function(&mut self, tags: Vec<SmolStr>, outputs: Vec<SmolStr>) {
        let entry = self.program.entry_points.len() - 1;
        self.program.intersection_functions.push(IntersectionFunction { entry, tags, outputs });
    }

    pub(super) fn add_visible_function(&mut self, function: VisibleFunction) {
        self.program.visible_functions.push(function);
    }

    /// Lists a function at namespace scope that other files see, by its number. Templates, inline functions and those
    /// that a host calls are none.
    pub(super) fn add_external_function(&mut self, entity: EntityId, id: FunctionId) {
        let entity = self.entity(entity);
        let is_external = |decl: &ast::FunctionDecl| {
            let ast::Specifiers { is_static, is_inline, is_constexpr, stage, .. } = decl.specifiers;
            let is_linked =
                decl.attributes.iter().any(|attribute| matches!(&*attribute.name, "visible" | "stitchable"));
            !(is_static || is_inline || is_constexpr || is_linked || stage.is_some()) && decl.templates.is_empty()
        };
        let mut declarations = entity.source.first().into_iter().chain(entity.source.latest());
        let is_named = entity.name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_global = entity.class.is_none() && is_named && !entity.prefix.contains("(anonymous)");
        let is_external = is_global && declarations.all(is_external);
        let listed = &mut self.program.external_functions;
        // Called again for the definition, which may say more.
        match (is_external, listed.binary_search(&id)) {
            (true, Err(position)) => listed.insert(position, id),
            (false, Ok(position)) => drop(listed.remove(position)),
            (true, Ok(_)) | (false, Err(_)) => {}
        }
    }

    /// Notes an explicit instantiation; returns where an earlier one is.
    pub(super) fn add_explicit_instantiation(&mut self, instantiated: Instantiated, span: Span) -> Option<Span> {
        let earlier = self.explicit_instantiations.get(&instantiated).copied();
        self.explicit_instantiations.entry(instantiated).or_insert(span);
        earlier
    }

    pub(super) fn add_notice(&mut self, declared: Span, attribute: &'a ast::Attribute) {
        let notices = self.notices.entry(declared).or_default();
        // Each instantiation declares it again.
        if !notices.iter().any(|other| other.span == attribute.span) {
            notices.push(attribute);
        }
    }

    pub(super) fn notices(&self, declared: Span) -> Vec<&'a ast::Attribute> {
        match self.notices.is_empty() {
            true => Vec::new(),
            false => self.notices.get(&declared).cloned().unwrap_or_default(),
        }
    }

    /// Counts an instantiation; returns the number so far.
    pub(super) fn count_instantiation(&mut self) -> u32 {
        self.instantiations += 1;
        self.instantiations
    }
}
