//! Instantiation on demand, with its limits.

use crate::check::Checker;
use crate::check::tables::ClassState;
use crate::check::tables::ScopeKind;
use crate::source::Span;
use crate::types::{StructId, Ty};

/// Nested instantiations at most, as clang has it.
pub(in crate::check) const MAX_INSTANTIATION_DEPTH: usize = 256;

/// Instantiations in all: more is a runaway template.
const MAX_INSTANTIATIONS: u32 = 200_000;

impl<'a> Checker<'a> {
    /// Counts an instantiation; complains when there are too many.
    pub(in crate::check) fn count_instantiation(&mut self, span: Span) -> bool {
        if self.gave_up.is_some() {
            return false;
        }
        self.instantiated += 1;
        let too_deep = self.instantiations.len() > MAX_INSTANTIATION_DEPTH;
        if too_deep || self.instantiated > MAX_INSTANTIATIONS {
            let message = match too_deep {
                true => {
                    format!("recursive template instantiation exceeded maximum depth of {MAX_INSTANTIATION_DEPTH}")
                }
                false => format!("more than {MAX_INSTANTIATIONS} template instantiations"),
            };
            self.give_up("template-depth", span, message);
            return false;
        }
        true
    }

    /// Makes the members and layout of a class known, where its template allows.
    pub(in crate::check) fn complete_class(&mut self, id: StructId) {
        if self.class(id).state != ClassState::Declared {
            return;
        }
        let Some((template, args)) = self.class(id).template.clone() else { return };
        let span = self.class(id).requested_at;
        let chosen = self.choose_class(template, &args, span);
        let Some(chosen) = chosen else { return };
        let name = self.types().struct_(id).name.clone();
        let message = format!("in instantiation of template class '{name}' requested here");
        // The members see the parameters: put their scope between the class and where the template stands.
        let class_scope = self.scopes.add(chosen.scope, ScopeKind::Class(id));
        self.class_mut(id).scope = class_scope;
        let is_pattern = self.class(id).is_pattern;
        if !is_pattern {
            self.instantiations.push((message, span));
        }
        let saved_pattern = std::mem::replace(&mut self.in_pattern, is_pattern);
        self.nested(span, |this| this.define_class(id, chosen.decl));
        self.in_pattern = saved_pattern;
        if !is_pattern {
            self.instantiations.pop();
        }
    }

    /// Completes a class type; other types always are.
    pub(in crate::check) fn complete_type(&mut self, ty: Ty) {
        match *self.types().kind(ty) {
            crate::types::TyKind::Struct(id) => self.complete_class(id),
            crate::types::TyKind::Array { element, .. } => self.complete_type(element),
            _ => {}
        }
    }
}
