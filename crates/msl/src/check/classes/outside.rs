//! Members that are defined outside their class.

use crate::check::Checker;
use crate::check::declarations::add_function_entity;
use crate::check::state::Diagnostics;
use crate::check::tables::{ClassState, ClassTemplateId, EntityId, Symbol};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, FunctionKind};
use crate::types::StructId;

impl<'a> Checker<'a> {
    /// Attaches definitions outside the class to the members declared in it.
    pub(super) fn attach_outside_members(&mut self, id: StructId) {
        let Some((template, _)) = self.tables.class(id).template else { return };
        for function in self.tables.class_template(template).outside_members.clone() {
            self.attach_definition(id, function, false);
        }
    }

    /// The segment before the member's name in `Tile<T>::load`, and what it names. An error has been reported.
    pub(super) fn outside_owner(
        &mut self,
        path: &'a ast::Path,
    ) -> Result<(&'a ast::PathSegment, Option<Symbol>), ()> {
        let owner = &path.segments[..path.segments.len() - 1];
        let last_owner = owner.last().expect("the name is qualified");
        let found = match owner {
            [only] if !path.global => self.tables.lookup(self.position.scope(), &only.name),
            [outer @ .., last] => match self.resolve_qualifier(path, outer)? {
                Some(qualifier) => self.lookup_in(qualifier, &last.name),
                None => None,
            },
            [] => None,
        };
        Ok((last_owner, found.map(|found| found.symbol)))
    }

    /// Instances of a class template whose members are known, in the order of their declaration.
    pub(super) fn complete_instances(&self, template: ClassTemplateId) -> Vec<StructId> {
        let instances = self.tables.class_template(template).instances.values().copied();
        let mut complete: Vec<StructId> =
            instances.filter(|instance| self.tables.class(*instance).state == ClassState::Complete).collect();
        complete.sort();
        complete
    }

    /// `void Tile<T>::load() { … }`
    pub(in crate::check) fn define_outside_member(&mut self, function: &'a ast::FunctionDecl) {
        let path = &function.name;
        let Ok((last_owner, owner)) = self.outside_owner(path) else { return };
        match owner {
            // `template <> void Tile<float>::load() { … }`: for one instance only.
            Some(symbol @ Symbol::ClassTemplate(_)) if function.templates.iter().all(|h| h.params.is_empty()) => {
                let ty = self.symbol_as_type(&symbol, last_owner.args.as_deref(), last_owner.span);
                if let Some(id) = self.tables.types().struct_id(ty.ty) {
                    self.complete_class(id);
                    self.define_member(id, function, true);
                }
            }
            Some(Symbol::ClassTemplate(template)) => {
                self.check_template_member(template, function);
                self.tables.class_template_mut(template).outside_members.push(function);
                for instance in self.complete_instances(template) {
                    self.attach_definition(instance, function, false);
                }
            }
            Some(Symbol::Type(ty)) => match self.tables.types().struct_id(ty.ty) {
                Some(id) => self.define_member(id, function, false),
                None => self.diagnostics.error("out-of-line", path.span, "expected a class before '::'"),
            },
            Some(Symbol::Namespace(namespace)) => {
                if self.tables.scopes().own(namespace, &path.last().name).is_none() {
                    let name = &path.last().name;
                    let message = format!(
                        "out-of-line definition of '{name}' does not match any declaration in namespace '{}'",
                        last_owner.name
                    );
                    self.diagnostics.error("out-of-line", path.last().span, message);
                    return;
                }
                self.in_scope(namespace, |this| this.declare_function_here(function));
            }
            Some(_) => {
                self.diagnostics.error("out-of-line", path.span, "expected a class or namespace before '::'")
            }
            None => undeclared_owner(&mut self.diagnostics, last_owner),
        }
    }

    fn define_member(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) {
        let is_template = self.tables.class(id).template.is_some() || !function.templates.is_empty();
        let found = match is_template {
            true => self.attach_definition(id, function, replaces),
            false => self.attach_plain_definition(id, function),
        };
        if !found {
            let owner = self.tables.types().struct_(id).name.clone();
            refuse_unknown_member(&mut self.diagnostics, function, &owner);
        }
    }

    /// The members that a definition outside the class could belong to.
    fn outside_candidates(&self, id: StructId, function: &ast::FunctionDecl) -> Vec<EntityId> {
        match function.kind {
            FunctionKind::Constructor => self.tables.own_constructors(id),
            FunctionKind::Conversion => self.tables.class(id).conversions.clone(),
            _ => match self.tables.scopes().own(self.tables.class(id).scope, &function.name.last().name) {
                Some(Symbol::Functions(entities)) => entities.clone(),
                _ => Vec::new(),
            },
        }
    }

    /// Finds the member of an ordinary class that `function` defines, by its types.
    fn attach_plain_definition(&mut self, id: StructId, function: &'a ast::FunctionDecl) -> bool {
        let scope = self.tables.class(id).scope;
        let access = ast::Access::Public;
        let Some(entity) =
            add_function_entity(&mut self.tables, &mut self.diagnostics, function, scope, Some(id), access)
        else {
            return true;
        };
        let candidates = self.outside_candidates(id, function);
        let Some(member) = candidates.into_iter().find(|&member| self.same_signature(member, entity)) else {
            return false;
        };
        let Some(declared) = self.tables.entity(member).source.first() else { return true };
        if let Some(first) = self.tables.entity(member).source.latest().filter(|latest| latest.body.is_some()) {
            let message = format!("redefinition of '{}'", function.name.last().name);
            let diagnostic = Diagnostic::error("redefinition", function.name.span, message);
            self.diagnostics.report(diagnostic.note(first.name.span, "previous definition is here"));
            return true;
        }
        self.refuse_second_default(declared, function);
        self.merge_defaults(member, entity);
        let results = (self.signature(member, &[]), self.signature(entity, &[]));
        if let (Some(a), Some(b)) = results
            && let (Some(a), Some(b)) = (a.result, b.result)
            && a != b
            && !a.is_unknown()
            && !b.is_unknown()
        {
            let message = format!(
                "return type of out-of-line definition of '{}::{}' differs from that in the declaration",
                self.tables.types().struct_(id).name,
                function.name.last().name
            );
            let diagnostic = Diagnostic::error("redefinition", function.name.span, message);
            self.diagnostics.report(diagnostic.note(declared.name.span, "previous declaration is here"));
        }
        self.tables.set_definition(member, function);
        self.check_declared_function(member);
        true
    }

    /// Finds the member that `function` defines by its text and sets its body; with `replaces`, even if it has one.
    fn attach_definition(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) -> bool {
        let candidates = self.outside_candidates(id, function);
        let fits = |declared: &ast::FunctionDecl| {
            (replaces || declared.body.is_none())
                && declared.params.len() == function.params.len()
                && declared.method_quals == function.method_quals
        };
        let same_shape = |this: &Self, entity: EntityId| {
            this.tables.entity(entity).source.first().is_some_and(|declared| {
                let same = |(a, b): (&ast::Param, &ast::Param)| this.tables.same_text(a.ty.span, b.ty.span);
                fits(declared) && declared.params.iter().zip(&function.params).all(same)
            })
        };
        let exact = candidates.iter().copied().find(|&entity| same_shape(self, entity));
        let by_count =
            candidates.iter().copied().find(|&entity| self.tables.entity(entity).source.first().is_some_and(fits));
        let Some(entity) = exact.or(by_count) else { return false };
        self.tables.set_definition(entity, function);
        if self.tables.class(id).template.is_none() {
            self.check_declared_function(entity);
        }
        true
    }

    /// Reports a member of a class template that the class does not declare, or that is defined twice.
    fn check_template_member(&mut self, template: ClassTemplateId, function: &'a ast::FunctionDecl) {
        let template = self.tables.class_template(template);
        let name = &function.name.last().name;
        let owner = &function.name.segments[function.name.segments.len() - 2];
        let Some(class) = template.definition else { return };
        // A partial specialization has members of its own.
        if !template.specializations.is_empty() {
            return;
        }
        if owner.args.is_none() {
            let message = format!("use of class template '{}' requires template arguments", owner.name);
            self.diagnostics.error("template-arguments", owner.span, message);
            return;
        }
        let declares = |member: &ast::Decl| match &member.kind {
            ast::DeclKind::Function(declared) => {
                let is_constructor = |kind: &FunctionKind| matches!(kind, FunctionKind::Constructor);
                let same_name = declared.name.last().name == *name
                    || (is_constructor(&declared.kind) && is_constructor(&function.kind))
                    || matches!(declared.kind, FunctionKind::Conversion);
                same_name
                    && declared.params.len() == function.params.len()
                    && declared.method_quals == function.method_quals
            }
            _ => false,
        };
        if !class.members.iter().flatten().any(declares) {
            refuse_unknown_member(&mut self.diagnostics, function, &template.name);
            return;
        }
        let earlier = template.outside_members.iter().copied().find(|other| {
            let same = |(a, b): (&ast::Param, &ast::Param)| self.tables.same_text(a.ty.span, b.ty.span);
            let same_headers =
                |(a, b): (&ast::TemplateHeader, &ast::TemplateHeader)| self.tables.same_text(a.span, b.span);
            other.name.last().name == *name
                && other.params.len() == function.params.len()
                && other.method_quals == function.method_quals
                && other.templates.len() == function.templates.len()
                && other.templates.iter().zip(&function.templates).all(same_headers)
                && other.params.iter().zip(&function.params).all(same)
                && self.tables.same_text(other.result.span, function.result.span)
        });
        if let Some(first) = earlier {
            let diagnostic =
                Diagnostic::error("redefinition", function.name.span, format!("redefinition of '{name}'"));
            self.diagnostics.report(diagnostic.note(first.name.span, "previous definition is here"));
        }
    }
}

fn refuse_unknown_member(diagnostics: &mut Diagnostics, function: &ast::FunctionDecl, owner: &str) {
    let member = function.name.last();
    let message =
        format!("out-of-line definition of '{}' does not match any declaration in '{owner}'", member.name);
    diagnostics.error("out-of-line", member.span, message);
}

fn undeclared_owner(diagnostics: &mut Diagnostics, segment: &ast::PathSegment) {
    let message = format!("use of undeclared identifier '{}'", segment.name);
    diagnostics.error("undeclared-identifier", segment.span, message);
}
