//! Declarations of functions.

use super::redeclarations::refuse_missing_defaults;
use crate::check::Checker;
use crate::check::classes::refuse_duplicate_params;
use crate::check::conversions::Purpose;
use crate::check::initialization::contains_auto;
use crate::check::state::{Diagnostics, FunctionState};
use crate::check::tables::{
    Entity, EntityId, FunctionSource, ScopeId, Signature, SignatureParam, Symbol, Tables, TemplateArg, native_type,
};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, Access, TemplateParamKind, TypeExprKind};
use crate::stdlib::families;
use crate::types::{QualTy, StructId, Ty, TyKind};
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;
use std::rc::Rc;

impl<'a> Checker<'a> {
    /// A function at namespace scope, or the definition of a member outside its class.
    pub(super) fn declare_function(&mut self, function: &'a ast::FunctionDecl) {
        if function.name.segments.len() > 1 {
            self.define_outside_member(function);
        } else {
            self.declare_function_here(function);
        }
    }

    pub(in crate::check) fn declare_function_here(&mut self, function: &'a ast::FunctionDecl) {
        let name = &function.name.last().name;
        let is_specialization = function.templates.last().is_some_and(|header| header.params.is_empty());
        if is_specialization {
            if let Some(entity) = self.declare_function_specialization(function, None, Access::Public) {
                self.check_declared_function(entity);
            }
            return;
        }
        let scope = self.position.scope();
        let Some(entity) =
            add_function_entity(&mut self.tables, &mut self.diagnostics, function, scope, None, Access::Public)
        else {
            return;
        };
        if self.merge_redeclaration(scope, name, entity) {
            return;
        }
        if let Some(other) = self.tables.scopes_mut().add_function(scope, name, entity) {
            let message = format!("redefinition of '{name}' as different kind of symbol");
            let diagnostic = Diagnostic::error("redefinition", function.name.span, message);
            let previous = self.tables.declared_at(self.function.locals(), &other);
            self.diagnostics.report(match previous {
                Some(span) => diagnostic.note(span, "previous definition is here"),
                None => diagnostic,
            });
            return;
        }
        if !self.tables.is_in_stdlib(function.span) {
            self.check_declared_function(entity);
        }
    }

    pub(super) fn declare_friend(&mut self, function: &'a ast::FunctionDecl, namespace: ScopeId) {
        // The body sees the class; the name belongs to the namespace.
        let scope = self.position.scope();
        let Some(entity) =
            add_function_entity(&mut self.tables, &mut self.diagnostics, function, scope, None, Access::Public)
        else {
            return;
        };
        let name = function.name.last().name.clone();
        if !self.merge_redeclaration(namespace, &name, entity) {
            self.tables.scopes_mut().add_function(namespace, &name, entity);
        }
    }

    /// `template <> void f<float>(…) { … }`, in a namespace or class. The result is a definition to be checked.
    pub(in crate::check) fn declare_function_specialization(
        &mut self,
        function: &'a ast::FunctionDecl,
        class: Option<StructId>,
        access: Access,
    ) -> Option<EntityId> {
        let path = &function.name;
        let name = path.last().name.clone();
        let found = self.tables.scopes().find_in(self.position.scope(), &name);
        let Some(Symbol::Functions(candidates)) = found else {
            let message = format!("no function template named '{name}' to specialize");
            self.diagnostics.error("specialization", path.last().span, message);
            return None;
        };
        let params: Vec<QualTy> = function.params.iter().map(|param| self.param_type(param)).collect();
        let is_deduced = contains_auto(&function.result);
        let result = (!is_deduced).then(|| self.resolve_type(&function.result).ty);
        if result == Some(Ty::ERROR) || params.iter().any(|ty| ty.ty == Ty::ERROR) {
            return None;
        }
        for candidate in candidates {
            if self.tables.entity(candidate).header.is_none() || self.tables.entity(candidate).family.is_some() {
                continue;
            }
            let written = self.tables.entity(candidate).source.first();
            if written.is_some_and(|template| contains_auto(&template.result) != is_deduced) {
                continue;
            }
            let explicit = path.last().args.as_deref();
            let Some(args) = self.deduce_from_types(candidate, explicit, &params, result) else { continue };
            if let Some(earlier) = self.tables.specialization_of(candidate, &args) {
                let has_body = self.tables.entity(earlier).source.latest().is_some_and(|decl| decl.body.is_some());
                if has_body && function.body.is_some() {
                    let message = format!("redefinition of '{name}{}'", self.tables.args_text(&args));
                    let diagnostic = Diagnostic::error("redefinition", path.last().span, message);
                    let span = self.tables.entity(earlier).span;
                    self.diagnostics.report(diagnostic.note(span, "previous definition is here"));
                } else if function.body.is_some() {
                    self.tables.set_definition(earlier, function);
                    return Some(earlier);
                }
                return None;
            }
            let scope = self.position.scope();
            let entity =
                add_function_entity(&mut self.tables, &mut self.diagnostics, function, scope, class, access)?;
            self.tables.entity_mut(candidate).specializations.push((args, entity));
            return Some(entity);
        }
        let message = format!("no function template matches function template specialization '{name}'");
        self.diagnostics.error("specialization", path.last().span, message);
        None
    }

    /// Checks a function when it is declared: an ordinary function completely, a template as written.
    pub(in crate::check) fn check_declared_function(&mut self, entity: EntityId) {
        let has_definition = match self.tables.entity(entity).source {
            FunctionSource::Declared { definition, .. } => definition.is_some(),
            FunctionSource::Lambda(_) => true,
        };
        match self.tables.entity(entity).header {
            None => {
                let Some(signature) = self.signature(entity, &[]) else { return };
                self.refuse_builtin_operands(entity, &signature);
                refuse_missing_defaults(&mut self.diagnostics, &signature);
                let is_member_of_pattern =
                    self.tables.entity(entity).class.is_some_and(|class| self.tables.class(class).is_pattern);
                if is_member_of_pattern {
                    if has_definition {
                        self.check_function_pattern(entity, &[]);
                    }
                    return;
                }
                self.check_default_arguments(&signature);
                let id = self.function_for(entity, Vec::new(), signature);
                if has_definition {
                    self.tables.need_body(id);
                }
                self.declare_entry_point(entity, id);
            }
            Some(header) => {
                if self.tables.entity(entity).family.is_none() && has_definition {
                    let args = self.tables.unknown_args(header);
                    self.check_function_pattern(entity, &args);
                }
            }
        }
    }

    /// Checks the default arguments, even if each call gives its own.
    fn check_default_arguments(&mut self, signature: &Signature<'a>) {
        if signature.params.iter().all(|param| param.default.is_none()) {
            return;
        }
        let outer = std::mem::replace(&mut self.function, FunctionState::outside());
        for param in &signature.params {
            let Some(default) = param.default else { continue };
            self.in_scope(signature.scope, |this| match &default.kind {
                ast::ExprKind::InitList(items) => this.list_initialize_items(param.ty, items, default.span),
                _ => {
                    let value = this.check_for_type(default, param.ty);
                    this.convert(value, param.ty, Purpose::Parameter)
                }
            });
        }
        self.function = outer;
    }

    /// The meaning of operators on numbers, vectors and pointers is fixed.
    fn refuse_builtin_operands(&mut self, entity: EntityId, signature: &Signature<'a>) {
        let description = self.tables.entity(entity);
        let Some(decl) = description.source.first() else { return };
        if description.class.is_some() || !matches!(decl.kind, ast::FunctionKind::Operator(_)) {
            return;
        }
        let is_builtin = |param: &SignatureParam<'a>| {
            let ty = self.tables.types().referent(param.ty).ty;
            let is_vector = matches!(self.tables.types().kind(ty), TyKind::Vector { .. });
            self.tables.types().is_arithmetic(ty) || is_vector || self.tables.types().pointee(ty).is_some()
        };
        if signature.params.iter().all(is_builtin) {
            let name = &decl.name.last().name;
            let message =
                format!("overloaded '{name}' must have at least one parameter of class or enumeration type");
            self.diagnostics.error("operator", decl.name.span, message);
        }
    }

    /// Checks a template's function as written, with its parameters unknown. Nothing of it stays in the program.
    fn check_function_pattern(&mut self, entity: EntityId, args: &[TemplateArg]) {
        let saved = self.position.set_in_pattern(true);
        if let Some(signature) = self.signature(entity, args) {
            let mut function = self.tables.new_function(entity, args, &signature);
            self.check_body_into(entity, args, &signature, &mut function, None);
        }
        self.position.set_in_pattern(saved);
    }
}

impl<'a> Tables<'a> {
    fn family_of(&mut self, header: &'a ast::TemplateHeader) -> Option<Rc<[Ty]>> {
        let [param] = &*header.params else { return None };
        let TemplateParamKind::Value { ty, .. } = &param.kind else { return None };
        let TypeExprKind::Named(path) = &ty.kind else { return None };
        let family = families::family(&path.last().name)?;
        let mut types = Vec::new();
        for &element in family.elements {
            let element = native_type(self.types_mut(), element)?;
            for &width in family.widths {
                types.push(self.types_mut().vector(element, width));
            }
        }
        Some(types.into())
    }
}

/// Adds an entity for a declaration, in no scope yet.
pub(in crate::check) fn add_function_entity<'a>(
    tables: &mut Tables<'a>,
    diagnostics: &mut Diagnostics,
    function: &'a ast::FunctionDecl,
    scope: ScopeId,
    class: Option<StructId>,
    access: Access,
) -> Option<EntityId> {
    let header = function.templates.last().filter(|header| !header.params.is_empty());
    if let Some(header) = header {
        refuse_duplicate_params(diagnostics, header);
    }
    let name = function.name.last().name.clone();
    let is_builtin_file = tables.is_in_stdlib(function.span);
    let family = if is_builtin_file { header.and_then(|header| tables.family_of(header)) } else { None };
    let prefix: SmolStr = match class {
        Some(class) => format!("{}::", tables.types().struct_(class).name).into(),
        None => tables.scopes().namespace_prefix(scope).into(),
    };
    let builtin = (is_builtin_file && function.body.is_none() && !function.is_deleted)
        .then(|| format!("{prefix}{name}").trim_start_matches("metal::").into());
    Some(tables.add_entity(Entity {
        name,
        prefix,
        source: FunctionSource::Declared {
            declaration: function,
            definition: function.body.as_ref().map(|_| function),
        },
        scope,
        class,
        header,
        family,
        builtin,
        specializations: Vec::new(),
        signatures: HashMap::default(),
        functions: HashMap::default(),
        access,
        span: function.name.last().span,
    }))
}
