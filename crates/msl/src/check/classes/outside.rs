//! Members that are defined outside their class.

use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{ClassState, EntityId, Symbol};
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

    /// `void Tile<T>::load() { … }`
    pub(in crate::check) fn define_outside_member(&mut self, function: &'a ast::FunctionDecl) {
        let path = &function.name;
        let owner = &path.segments[..path.segments.len() - 1];
        let last_owner = owner.last().expect("the name is qualified");
        let found =
            if owner.len() == 1 { self.tables.lookup(self.position.scope(), &last_owner.name) } else { None };
        match found.map(|found| found.symbol) {
            // `template <> void Tile<float>::load() { … }`: for one instance only.
            Some(symbol @ Symbol::ClassTemplate(_)) if function.templates.iter().all(|h| h.params.is_empty()) => {
                let ty = self.symbol_as_type(&symbol, last_owner.args.as_deref(), last_owner.span);
                if let Some(id) = self.tables.types().struct_id(ty.ty) {
                    self.complete_class(id);
                    self.define_member(id, function, true);
                }
            }
            Some(Symbol::ClassTemplate(template)) => {
                self.tables.class_template_mut(template).outside_members.push(function);
                let mut instances: Vec<StructId> =
                    self.tables.class_template(template).instances.values().copied().collect();
                instances.sort();
                for instance in instances {
                    if self.tables.class(instance).state == ClassState::Complete {
                        self.attach_definition(instance, function, false);
                    }
                }
            }
            Some(Symbol::Type(ty)) => match self.tables.types().struct_id(ty.ty) {
                Some(id) => self.define_member(id, function, false),
                None => self.diagnostics.error("out-of-line", path.span, "expected a class before '::'"),
            },
            Some(Symbol::Namespace(namespace)) => {
                self.in_scope(namespace, |this| this.declare_function_here(function));
            }
            Some(_) => {
                self.diagnostics.error("out-of-line", path.span, "expected a class or namespace before '::'")
            }
            None => undeclared_owner(&mut self.diagnostics, last_owner),
        }
    }

    fn define_member(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) {
        if self.attach_definition(id, function, replaces) {
            return;
        }
        let member = function.name.last();
        let message = format!(
            "out-of-line definition of '{}' does not match any declaration in '{}'",
            member.name,
            self.tables.types().struct_(id).name
        );
        self.diagnostics.error("out-of-line", member.span, message);
    }

    /// Finds the member that `function` defines and sets its body; with `replaces`, even if it has one.
    fn attach_definition(&mut self, id: StructId, function: &'a ast::FunctionDecl, replaces: bool) -> bool {
        let name = &function.name.last().name;
        let candidates = match function.kind {
            FunctionKind::Constructor => self.tables.own_constructors(id),
            FunctionKind::Conversion => self.tables.class(id).conversions.clone(),
            _ => match self.tables.scopes().own(self.tables.class(id).scope, name) {
                Some(Symbol::Functions(entities)) => entities.clone(),
                _ => Vec::new(),
            },
        };
        let same_shape = |this: &Self, entity: EntityId| {
            this.tables.entity(entity).source.first().is_some_and(|declared| {
                (replaces || declared.body.is_none())
                    && declared.params.len() == function.params.len()
                    && declared.method_quals == function.method_quals
                    && declared
                        .params
                        .iter()
                        .zip(&function.params)
                        .all(|(a, b)| this.tables.same_text(a.ty.span, b.ty.span))
            })
        };
        let exact = candidates.iter().copied().find(|&entity| same_shape(self, entity));
        let by_count = candidates.iter().copied().find(|&entity| {
            self.tables
                .entity(entity)
                .source
                .first()
                .is_some_and(|d| (replaces || d.body.is_none()) && d.params.len() == function.params.len())
        });
        let Some(entity) = exact.or(by_count) else { return false };
        self.tables.set_definition(entity, function);
        if self.tables.class(id).template.is_none() {
            self.check_declared_function(entity);
        }
        true
    }
}

fn undeclared_owner(diagnostics: &mut Diagnostics, segment: &ast::PathSegment) {
    let message = format!("use of undeclared identifier '{}'", segment.name);
    diagnostics.error("undeclared-identifier", segment.span, message);
}
