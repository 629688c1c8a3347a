//! Instantiation on demand, with its limits.

use crate::check::Checker;
use crate::check::tables::{ClassState, ScopeKind};
use crate::source::Span;
use crate::types::{StructId, Ty};

/// Nested instantiations at most, as clang has it.
pub(in crate::check) const MAX_INSTANTIATION_DEPTH: usize = 256;

/// Instantiations in all: more is a runaway template.
const MAX_INSTANTIATIONS: u32 = 200_000;

impl<'a> Checker<'a> {
    /// Counts an instantiation; reports an error if there are too many.
    pub(in crate::check) fn count_instantiation(&mut self, span: Span) -> bool {
        if self.diagnostics.gave_up() {
            return false;
        }
        let count = self.tables.count_instantiation();
        let too_deep = self.diagnostics.instantiation_depth() > MAX_INSTANTIATION_DEPTH;
        if too_deep || count > MAX_INSTANTIATIONS {
            let message = match too_deep {
                true => {
                    format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}")
                }
                false => format!("more than {MAX_INSTANTIATIONS} template instantiations"),
            };
            self.diagnostics.give_up("template-depth", span, message);
            return false;
        }
        true
    }

    /// Makes the members and layout of a class known, where its template allows.
    pub(in crate::check) fn complete_class(&mut self, id: StructId) {
        if self.tables.class(id).state != ClassState::Declared {
            return;
        }
        let Some((template, args)) = self.tables.class(id).template.clone() else { return };
        let span = self.tables.class(id).requested_at;
        let chosen = self.choose_class(template, &args, span);
        let Some(chosen) = chosen else { return };
        let name = self.tables.types().struct_(id).name.clone();
        let message = format!("in instantiation of template class '{name}' requested here");
        // The members see the parameters: put their scope between the class and where the template stands.
        let class_scope = self.tables.scopes_mut().add(chosen.scope, ScopeKind::Class(id));
        self.tables.class_mut(id).scope = class_scope;
        let is_pattern = self.tables.class(id).is_pattern;
        if !is_pattern {
            self.diagnostics.enter_instantiation(message, span);
        }
        let saved_pattern = self.position.set_in_pattern(is_pattern);
        self.nested(span, |this| this.define_class(id, chosen.decl));
        self.position.set_in_pattern(saved_pattern);
        if !is_pattern {
            self.diagnostics.leave_instantiation();
        }
    }

    /// Completes a class type; other types always are.
    pub(in crate::check) fn complete_type(&mut self, ty: Ty) {
        match *self.tables.types().kind(ty) {
            crate::types::TyKind::Struct(id) => self.complete_class(id),
            crate::types::TyKind::Array { element, .. } => self.complete_type(element),
            _ => {}
        }
    }
}
