//! Classes.

use super::Tables;
use super::ids::{ClassTemplateId, EntityId};
use super::scopes::{ScopeId, ScopeKind};
use super::templates::TemplateArg;
use crate::parse::ast;
use crate::program::Value;
use crate::source::Span;
use crate::types::{Layout, Struct, StructId, Ty};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

/// Captures of a lambda.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Closure {
    /// The field that holds the surrounding `this`.
    pub(in crate::check) this_field: Option<u32>,
    /// The values of captured constants, by field.
    pub(in crate::check) known: Vec<Option<Value>>,
    /// The call operator.
    pub(in crate::check) call: Option<EntityId>,
    /// The function that a pointer to the lambda points to.
    pub(in crate::check) function: Option<EntityId>,
}

/// Facts about a struct that are not in [`crate::types::Types`].
pub(in crate::check) struct Class<'a> {
    pub(in crate::check) decl: Option<&'a ast::ClassDecl>,
    pub(in crate::check) scope: ScopeId,
    /// Set by the first declaration: `union`, or `struct` and `class`.
    pub(in crate::check) is_union: Option<bool>,
    /// For an instantiation: its template and arguments.
    pub(in crate::check) template: Option<(ClassTemplateId, Vec<TemplateArg>)>,
    pub(in crate::check) bases: Vec<StructId>,
    /// Its own, then those that it inherits.
    pub(in crate::check) constructors: Vec<EntityId>,
    /// Bases whose constructors `using Base::Base;` inherits.
    pub(in crate::check) inherited: Vec<StructId>,
    pub(in crate::check) conversions: Vec<EntityId>,
    /// Parallel to the fields: the default initializers.
    pub(in crate::check) field_inits: Vec<Option<&'a ast::Init>>,
    pub(in crate::check) field_access: Vec<ast::Access>,
    /// Structs and unions without a name, whose members are those of the class.
    pub(in crate::check) anonymous: Vec<StructId>,
    /// Private and protected types, enumerators and constants.
    pub(in crate::check) hidden: HashMap<SmolStr, ast::Access>,
    /// Members of bases that `using Base::f;` names, and the class that declares each.
    pub(in crate::check) used: Vec<(SmolStr, StructId)>,
    /// A base class depends on template parameters.
    pub(in crate::check) has_dependent_base: bool,
    /// For an instantiation: bases whose names depend on template parameters.
    pub(in crate::check) dependent_bases: Vec<StructId>,
    /// Set by `S() = default;`.
    pub(in crate::check) has_default_constructor: bool,
    /// Classes and functions that may use private members.
    pub(in crate::check) friends: Vec<SmolStr>,
    pub(in crate::check) state: ClassState,
    /// Variables captured by a lambda's closure.
    pub(in crate::check) closure: Option<Closure>,
    /// The place that needed it first, for notes.
    pub(in crate::check) requested_at: Span,
    /// It is the pattern of a template, with unknown arguments.
    pub(in crate::check) is_pattern: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::check) enum ClassState {
    Declared,
    InProgress,
    Complete,
}

impl<'a> Tables<'a> {
    pub(in crate::check) fn class(&self, id: StructId) -> &Class<'a> {
        &self.classes[id.0 as usize]
    }

    pub(in crate::check) fn class_mut(&mut self, id: StructId) -> &mut Class<'a> {
        &mut self.classes[id.0 as usize]
    }

    pub(in crate::check) fn struct_type(&mut self, id: StructId) -> Ty {
        self.types_mut().intern(crate::types::TyKind::Struct(id))
    }

    /// The class template of the library that a class is an instance of.
    pub(in crate::check) fn library_template(&self, id: StructId) -> Option<&str> {
        let class = self.class(id);
        let (template, _) = class.template.as_ref()?;
        self.is_in_stdlib(class.decl?.span).then(|| self.class_template(*template).name.as_str())
    }

    /// The namespaces and classes around a scope, with a trailing `::`.
    pub(in crate::check) fn qualifier(&self, mut scope: ScopeId) -> smol_str::SmolStr {
        loop {
            let this = self.scopes().get(scope);
            match (&this.kind, this.parent) {
                (ScopeKind::Class(id), _) => {
                    let class = self.types().struct_(*id);
                    return format!("{}{}::", class.qualifier, class.name).into();
                }
                (ScopeKind::Namespace(name), _) if name == "metal" || name.starts_with("metal::") => {
                    return "".into();
                }
                (ScopeKind::Namespace(_), _) | (_, None) => return self.scopes().namespace_prefix(scope).into(),
                (_, Some(parent)) => scope = parent,
            }
        }
    }

    /// An empty class, declared only.
    pub(in crate::check) fn add_class(&mut self, name: smol_str::SmolStr, span: Span, scope: ScopeId) -> StructId {
        let qualifier = self.qualifier(scope);
        let (id, _) = self.types_mut().add_struct(Struct {
            name,
            qualifier,
            fields: Vec::new(),
            is_union: false,
            is_complete: false,
            is_opaque: false,
            layout: Layout::default(),
            data_size: 0,
            is_pod: true,
            is_empty: false,
            largest_empty: 0,
            span,
        });
        let scope = self.scopes_mut().add(scope, ScopeKind::Class(id));
        self.classes.push(Class {
            decl: None,
            scope,
            is_union: None,
            template: None,
            bases: Vec::new(),
            constructors: Vec::new(),
            inherited: Vec::new(),
            conversions: Vec::new(),
            field_inits: Vec::new(),
            field_access: Vec::new(),
            anonymous: Vec::new(),
            hidden: HashMap::default(),
            used: Vec::new(),
            has_dependent_base: false,
            dependent_bases: Vec::new(),
            has_default_constructor: false,
            friends: Vec::new(),
            state: ClassState::Declared,
            closure: None,
            is_pattern: false,
            requested_at: span,
        });
        debug_assert_eq!(self.classes.len() as u32, id.0 + 1);
        id
    }
}
