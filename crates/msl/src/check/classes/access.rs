//! Private and protected members.

use crate::check::Checker;
use crate::check::tables::{EntityId, ScopeId, ScopeKind, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::FunctionId;
use crate::source::Span;
use crate::types::StructId;

impl<'a> Checker<'a> {
    pub(in crate::check) fn refuse_inaccessible(&mut self, entity: EntityId, span: Span) {
        let access = self.tables.entity(entity).access;
        let Some(class) = self.tables.entity(entity).class else { return };
        if access == ast::Access::Public
            || self.tables.may_access(self.function.id(), self.position.scope(), class, access)
        {
            return;
        }
        let word = if access == ast::Access::Private { "private" } else { "protected" };
        let message = format!(
            "'{}' is a {word} member of '{}'",
            self.tables.entity(entity).name,
            self.tables.types().struct_(class).name
        );
        let declared = self.tables.entity(entity).span;
        let diagnostic = Diagnostic::error("access", span, message);
        self.diagnostics.report(diagnostic.note(declared, format!("declared {word} here")));
    }
}

impl<'a> Tables<'a> {
    /// True if code of `function` in `scope` may use members of `class` with this access.
    pub(in crate::check) fn may_access(
        &self,
        function: Option<FunctionId>,
        scope: ScopeId,
        class: StructId,
        access: ast::Access,
    ) -> bool {
        let friends = &self.class(class).friends;
        let function = function.map(|id| self.entity(self.instance(id).entity).name.clone());
        if function.is_some_and(|name| friends.contains(&name)) {
            return true;
        }
        let mut scope = Some(scope);
        while let Some(id) = scope {
            if let ScopeKind::Class(inside) = self.scopes().get(id).kind
                && self.class(class).friends.contains(&self.types().struct_(inside).name)
            {
                return true;
            }
            if let ScopeKind::Class(inside) = self.scopes().get(id).kind {
                let same_template = match (&self.class(inside).template, &self.class(class).template) {
                    (Some((a, _)), Some((b, _))) => a == b,
                    _ => false,
                };
                let derives = access == ast::Access::Protected && self.path_to_base(inside, class).is_some();
                if inside == class || same_template || derives {
                    return true;
                }
            }
            scope = self.scopes().get(id).parent;
        }
        // A friend function is declared in the class's scope; its body is checked there.
        false
    }
}
