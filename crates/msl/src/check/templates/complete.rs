//! Instantiation on demand, with its limits.

use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{ClassState, ScopeKind, Tables};
use crate::source::Span;
use crate::types::{StructId, Ty};

/// Deepest nesting of instantiations, as in clang.
pub(in crate::check) const MAX_INSTANTIATION_DEPTH: usize = 1024;

/// Most instantiations in all: more is a runaway template.
const MAX_INSTANTIATIONS: u32 = 100_000;

impl<'a> Checker<'a> {
    /// Instantiates the members and layout of a class, if its template is defined.
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
        // The members see the parameters: their scope lies between the class and the scope of the template.
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

    /// Completes a class type; other types are always complete.
    pub(in crate::check) fn complete_type(&mut self, ty: Ty) {
        match *self.tables.types().kind(ty) {
            crate::types::TyKind::Struct(id) => self.complete_class(id),
            crate::types::TyKind::Array { element, .. } => self.complete_type(element),
            _ => {}
        }
    }
}

/// Counts an instantiation; reports an error if there are too many.
pub(in crate::check) fn count_instantiation(
    tables: &mut Tables<'_>,
    diagnostics: &mut Diagnostics,
    span: Span,
) -> bool {
    if diagnostics.gave_up() {
        return false;
    }
    let count = tables.count_instantiation();
    let too_deep = diagnostics.instantiation_depth() > MAX_INSTANTIATION_DEPTH;
    if too_deep || count > MAX_INSTANTIATIONS {
        let message = match too_deep {
            true => {
                format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}")
            }
            false => format!("more than {MAX_INSTANTIATIONS} template instantiations"),
        };
        diagnostics.give_up("template-depth", span, message);
        return false;
    }
    true
}
