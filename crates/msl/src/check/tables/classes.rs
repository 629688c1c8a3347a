//! Classes.

use super::ids::{ClassTemplateId, EntityId};
use super::scopes::ScopeId;
use super::templates::TemplateArg;
use crate::parse::ast;
use crate::source::Span;
use crate::types::StructId;
use smol_str::SmolStr;

/// What a lambda captured.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Closure {
    /// The field that holds the surrounding `this`.
    pub(in crate::check) this_field: Option<u32>,
}

/// What the checker knows about a struct besides what [`Types`] says.
pub(in crate::check) struct Class<'a> {
    pub(in crate::check) decl: Option<&'a ast::ClassDecl>,
    pub(in crate::check) scope: ScopeId,
    /// Where the members of an instantiation are, and the arguments it was made with.
    pub(in crate::check) template: Option<(ClassTemplateId, Vec<TemplateArg>)>,
    pub(in crate::check) bases: Vec<StructId>,
    pub(in crate::check) constructors: Vec<EntityId>,
    pub(in crate::check) conversions: Vec<EntityId>,
    /// Parallel to the fields: the default initializers.
    pub(in crate::check) field_inits: Vec<Option<&'a ast::Init>>,
    pub(in crate::check) field_access: Vec<ast::Access>,
    /// Initializers of its base see these arguments unknown.
    pub(in crate::check) has_dependent_base: bool,
    /// `S() = default;` stands beside other constructors.
    pub(in crate::check) has_default_constructor: bool,
    /// Classes and functions that may use private members.
    pub(in crate::check) friends: Vec<SmolStr>,
    pub(in crate::check) state: ClassState,
    /// Variables captured by a lambda's closure.
    pub(in crate::check) closure: Option<Closure>,
    /// What made it necessary: for notes.
    pub(in crate::check) requested_at: Span,
    /// It is the pattern of a template, looked at with unknown arguments.
    pub(in crate::check) is_pattern: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum ClassState {
    Declared,
    InProgress,
    Complete,
}
