//! Types of parameters as the source writes them.

use crate::check::tables::{ScopeId, ScopeKind, Tables};
use crate::parse::ast::{self, TypeExprKind};

/// True if a declaration names the type that it points to by a class template (`device Pair<int> *`) or an alias, and
/// not by a template parameter.
pub(super) fn names_template(tables: &Tables, scope: ScopeId, written: &ast::TypeExpr) -> bool {
    match &written.kind {
        TypeExprKind::Pointer(inner)
        | TypeExprKind::Reference { inner, .. }
        | TypeExprKind::Array { element: inner, .. }
        | TypeExprKind::Qualified { inner, .. } => names_template(tables, scope, inner),
        TypeExprKind::Named(path) if path.last().args.is_some() => true,
        TypeExprKind::Named(path) => path.as_ident().map_or_else(
            || path.segments.iter().all(|segment| segment.args.is_none()),
            |name| !is_template_parameter(tables, scope, name),
        ),
        _ => false,
    }
}

fn is_template_parameter(tables: &Tables, scope: ScopeId, name: &str) -> bool {
    let mut next = Some(scope);
    while let Some(scope) = next {
        if tables.scopes().own(scope, name).is_some() {
            return tables.scopes().get(scope).kind == ScopeKind::Template;
        }
        next = tables.scopes().get(scope).parent;
    }
    false
}
