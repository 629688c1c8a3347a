//! Undeclared names, with the nearest name that is declared.

use super::lookup::Qualifier;
use super::suggest::{COMMON_TYPES, closest};
use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::{ClassState, ScopeId, ScopeKind, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::Local;
use crate::source::Span;
use crate::types::TyKind;

impl<'a> Checker<'a> {
    /// Reports that a path's last name is not declared.
    pub(in crate::check) fn undeclared(&mut self, path: &'a ast::Path, expected_type: bool) {
        let segment = path.last();
        let name = &segment.name;
        if path.segments.len() > 1 || path.global {
            let Ok(Some(qualifier)) = self.resolve_qualifier(path, &path.segments[..path.segments.len() - 1])
            else {
                return;
            };
            let what = if expected_type { "type" } else { "member" };
            let message = match qualifier {
                Qualifier::Namespace(ScopeId::GLOBAL) => {
                    format!("no {what} named '{name}' in the global namespace")
                }
                Qualifier::Namespace(scope) => {
                    let namespace = self.tables.scopes().namespace_prefix(scope);
                    format!("no {what} named '{name}' in namespace '{}'", namespace.trim_end_matches("::"))
                }
                Qualifier::Type(ty) => format!("no {what} named '{name}' in '{}'", self.tables.name_of(ty)),
                Qualifier::Dependent => return,
            };
            let diagnostic = Diagnostic::error("no-member", segment.span, message);
            let diagnostic = match qualifier {
                Qualifier::Namespace(scope) => {
                    let near = closest(name, self.tables.scopes().names(scope).map(|n| n.as_str()));
                    did_you_mean(diagnostic, near)
                }
                _ => diagnostic,
            };
            self.diagnostics.report(diagnostic);
            return;
        }
        let (id, message) = match expected_type {
            true => ("unknown-type", format!("unknown type name '{name}'")),
            false => ("undeclared-identifier", format!("use of undeclared identifier '{name}'")),
        };
        let near = match self.diagnostics.wants_suggestions() {
            true => self.tables.closest_visible_name(self.position.scope(), name),
            false => None,
        };
        let diagnostic = did_you_mean(Diagnostic::error(id, segment.span, message), near);
        self.diagnostics.report(diagnostic);
    }
}

impl<'a> Tables<'a> {
    /// The declaration of a symbol, for notes.
    pub(in crate::check) fn declared_at(&self, locals: &[Local], symbol: &Symbol) -> Option<Span> {
        match symbol {
            Symbol::Functions(entities) => entities.first().map(|&e| self.entity(e).span),
            Symbol::Global(id) => Some(self.global(*id).span),
            Symbol::Type(ty) => match *self.types().kind(ty.ty) {
                TyKind::Struct(id) => Some(self.types().struct_(id).span),
                TyKind::Enum(id) => Some(self.types().enum_(id).span),
                _ => None,
            },
            Symbol::Local(id) => locals.get(id.0 as usize).map(|local| local.span),
            Symbol::ClassTemplate(id) => Some(self.class_template(*id).span),
            _ => None,
        }
    }

    /// The declared name nearest to `name`, with the namespace `metal` searched where it is not in use.
    fn closest_visible_name(&self, scope: ScopeId, name: &str) -> Option<String> {
        let mut names: Vec<String> = Vec::new();
        let mut scope = Some(scope);
        while let Some(id) = scope {
            if let ScopeKind::Class(class) = self.scopes().get(id).kind
                && self.class(class).state == ClassState::Declared
            {
                break;
            }
            names.extend(self.scopes().names(id).filter(|n| !n.starts_with("__")).map(ToString::to_string));
            scope = self.scopes().get(id).parent;
        }
        if let Some(Symbol::Namespace(metal)) = self.scopes().own(ScopeId::GLOBAL, "metal") {
            let metal = *metal;
            if self.scopes().own(metal, name).is_some() {
                return Some(format!("metal::{name}"));
            }
            names.extend(self.scopes().names(metal).filter(|n| !n.starts_with("__")).map(ToString::to_string));
        }
        names.extend(COMMON_TYPES.iter().map(ToString::to_string));
        names.sort();
        closest(name, names.iter().map(String::as_str))
    }
}

pub(super) fn undeclared_qualifier(diagnostics: &mut Diagnostics, segment: &ast::PathSegment) {
    let message = format!("use of undeclared identifier '{}'", segment.name);
    let mut diagnostic = Diagnostic::error("undeclared-identifier", segment.span, message);
    if segment.name == "metal" {
        diagnostic.message.push_str("; did you forget '#include <metal_stdlib>'?");
    }
    diagnostics.report(diagnostic);
}

pub(in crate::check) fn did_you_mean(mut diagnostic: Diagnostic, near: Option<String>) -> Diagnostic {
    if let Some(near) = near {
        diagnostic.message.push_str(&format!("; did you mean '{near}'?"));
        return diagnostic.suggest(near);
    }
    diagnostic
}
