//! What a name means: unqualified names from the innermost scope outwards, qualified ones inside what stands before `::`.

use super::native::{native_template, native_type};
use super::scope::{ScopeId, ScopeKind, Symbol};
use super::suggest::closest;
use super::{Checker, ClassState};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::source::Span;
use crate::types::{QualTy, StructId, Ty, TyKind};

/// What a path leads to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) symbol: Symbol,
    /// For a member: the class it belongs to.
    pub(super) class: Option<StructId>,
}

/// What stands before `::`.
#[derive(Clone, Copy, Debug)]
enum Qualifier {
    Namespace(ScopeId),
    Type(Ty),
    Dependent,
}

impl<'a> Checker<'a> {
    /// What `name` means here; `None` where it is not declared.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Found> {
        let mut scope = Some(self.scope);
        while let Some(id) = scope {
            let found = match self.scopes.get(id).kind {
                ScopeKind::Class(class) => self.lookup_member(class, name),
                _ => self.scopes.find_in(id, name).map(|symbol| Found { symbol, class: None }),
            };
            if found.is_some() {
                return found;
            }
            scope = self.scopes.get(id).parent;
        }
        self.lookup_native(name)
    }

    fn lookup_native(&mut self, name: &str) -> Option<Found> {
        let symbol = match native_template(name) {
            Some(template) => Symbol::NativeTemplate(template),
            None => Symbol::Type(QualTy::plain(native_type(self.types_mut(), name)?)),
        };
        Some(Found { symbol, class: None })
    }

    /// A member of a class or of its bases.
    pub(super) fn lookup_member(&mut self, class: StructId, name: &str) -> Option<Found> {
        let scope = self.class(class).scope;
        if let Some(symbol) = self.scopes.own(scope, name) {
            return Some(Found { symbol: symbol.clone(), class: Some(class) });
        }
        for base in self.class(class).bases.clone() {
            if let Some(found) = self.lookup_member(base, name) {
                return Some(found);
            }
        }
        self.class(class).has_dependent_base.then_some(Found { symbol: Symbol::Dependent, class: Some(class) })
    }

    /// What a path means; complains where a part before `::` has no meaning. `None` where the last name is not
    /// declared: the caller knows what it expected there.
    pub(super) fn resolve_path(&mut self, path: &'a ast::Path) -> Result<Option<Found>, ()> {
        let (last, qualifiers) = path.segments.split_last().expect("a path has a segment");
        if qualifiers.is_empty() && !path.global {
            return Ok(self.lookup(&last.name));
        }
        let Some(qualifier) = self.resolve_qualifier(path, qualifiers)? else { return Ok(None) };
        Ok(self.lookup_in(qualifier, &last.name))
    }

    fn resolve_qualifier(
        &mut self,
        path: &'a ast::Path,
        segments: &'a [ast::PathSegment],
    ) -> Result<Option<Qualifier>, ()> {
        let mut qualifier = path.global.then_some(Qualifier::Namespace(ScopeId::GLOBAL));
        for (position, segment) in segments.iter().enumerate() {
            // `decltype(e)::x` is kept as a first segment with the expression as its argument.
            if position == 0
                && segment.name == "decltype"
                && let Some([ast::TemplateArg::Expr(expr)]) = segment.args.as_deref()
            {
                let ty = self.resolve_decltype(expr);
                qualifier = Some(match self.types().referent(ty).ty {
                    Ty::ERROR => return Err(()),
                    Ty::DEPENDENT => Qualifier::Dependent,
                    ty => Qualifier::Type(ty),
                });
                continue;
            }
            let found = match qualifier {
                None => self.lookup(&segment.name),
                Some(qualifier) => self.lookup_in(qualifier, &segment.name),
            };
            let Some(found) = found else {
                self.undeclared_qualifier(segment);
                return Err(());
            };
            qualifier = Some(match found.symbol {
                Symbol::Namespace(scope) => Qualifier::Namespace(scope),
                Symbol::Dependent => Qualifier::Dependent,
                symbol @ (Symbol::Type(_)
                | Symbol::ClassTemplate(_)
                | Symbol::AliasTemplate(_)
                | Symbol::NativeTemplate(_)) => {
                    let ty = self.symbol_as_type(&symbol, segment.args.as_deref(), segment.span);
                    match ty.ty {
                        Ty::ERROR => return Err(()),
                        Ty::DEPENDENT => Qualifier::Dependent,
                        ty => Qualifier::Type(ty),
                    }
                }
                _ => {
                    let message = format!("'{}' is not a class, namespace, or enumeration", segment.name);
                    self.error("not-a-scope", segment.span, message);
                    return Err(());
                }
            });
        }
        Ok(qualifier)
    }

    fn undeclared_qualifier(&mut self, segment: &ast::PathSegment) {
        let message = format!("use of undeclared identifier '{}'", segment.name);
        let mut diagnostic = Diagnostic::error("undeclared-identifier", segment.span, message);
        if segment.name == "metal" {
            diagnostic.message.push_str("; did you forget '#include <metal_stdlib>'?");
        }
        self.report(diagnostic);
    }

    fn lookup_in(&mut self, qualifier: Qualifier, name: &str) -> Option<Found> {
        match qualifier {
            Qualifier::Dependent => Some(Found { symbol: Symbol::Dependent, class: None }),
            Qualifier::Namespace(scope) => {
                if let Some(symbol) = self.scopes.find_in(scope, name) {
                    return Some(Found { symbol, class: None });
                }
                let has_natives = match &self.scopes.get(scope).kind {
                    ScopeKind::Namespace(namespace) => namespace.is_empty() || namespace == "metal",
                    _ => false,
                };
                if has_natives { self.lookup_native(name) } else { None }
            }
            Qualifier::Type(ty) => match *self.types().kind(ty) {
                TyKind::Struct(id) => {
                    self.complete_class(id);
                    self.lookup_member(id, name)
                }
                TyKind::Enum(id) => {
                    let value = self.types().enum_(id).enumerators.iter().find(|(n, _)| n == name)?.1;
                    Some(Found { symbol: Symbol::Value(ty, crate::program::Value::Int(value)), class: None })
                }
                _ => None,
            },
        }
    }

    /// The scope of a namespace path, for `using namespace`.
    pub(super) fn resolve_namespace(&mut self, path: &'a ast::Path) -> Option<ScopeId> {
        match self.resolve_path(path) {
            Ok(Some(Found { symbol: Symbol::Namespace(scope), .. })) => Some(scope),
            Ok(_) => {
                let name = &path.last().name;
                let mut message = format!("expected namespace name, found '{name}'");
                if name == "metal" {
                    message = "namespace 'metal' is not declared; did you forget '#include <metal_stdlib>'?".into();
                }
                self.error("not-a-namespace", path.last().span, message);
                None
            }
            Err(()) => None,
        }
    }

    /// Complains that a path's last name is not declared.
    pub(super) fn undeclared(&mut self, path: &'a ast::Path, expected_type: bool) {
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
                    let namespace = self.scopes.namespace_prefix(scope);
                    format!("no {what} named '{name}' in namespace '{}'", namespace.trim_end_matches("::"))
                }
                Qualifier::Type(ty) => format!("no {what} named '{name}' in '{}'", self.name_of(ty)),
                Qualifier::Dependent => return,
            };
            let diagnostic = Diagnostic::error("no-member", segment.span, message);
            let diagnostic = match qualifier {
                Qualifier::Namespace(scope) => {
                    let near = closest(name, self.scopes.names(scope).map(|n| n.as_str()));
                    self.did_you_mean(diagnostic, near)
                }
                _ => diagnostic,
            };
            self.report(diagnostic);
            return;
        }
        let (id, message) = match expected_type {
            true => ("unknown-type", format!("unknown type name '{name}'")),
            false => ("undeclared-identifier", format!("use of undeclared identifier '{name}'")),
        };
        let near = self.closest_visible_name(name);
        let diagnostic = self.did_you_mean(Diagnostic::error(id, segment.span, message), near);
        self.report(diagnostic);
    }

    pub(super) fn did_you_mean(&self, mut diagnostic: Diagnostic, near: Option<String>) -> Diagnostic {
        if let Some(near) = near {
            diagnostic.message.push_str(&format!("; did you mean '{near}'?"));
            return diagnostic.suggest(near);
        }
        diagnostic
    }

    /// The declared name nearest to `name`, with the namespace `metal` searched where it is not in use.
    fn closest_visible_name(&mut self, name: &str) -> Option<String> {
        if self.attempts > 0 {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        let mut scope = Some(self.scope);
        while let Some(id) = scope {
            if let ScopeKind::Class(class) = self.scopes.get(id).kind
                && self.class(class).state == ClassState::Declared
            {
                break;
            }
            names.extend(self.scopes.names(id).filter(|n| !n.starts_with("__")).map(ToString::to_string));
            scope = self.scopes.get(id).parent;
        }
        if let Some(Symbol::Namespace(metal)) = self.scopes.own(ScopeId::GLOBAL, "metal") {
            let metal = *metal;
            if self.scopes.own(metal, name).is_some() {
                return Some(format!("metal::{name}"));
            }
            names.extend(self.scopes.names(metal).filter(|n| !n.starts_with("__")).map(ToString::to_string));
        }
        names.extend(super::suggest::COMMON_TYPES.iter().map(ToString::to_string));
        names.sort();
        closest(name, names.iter().map(String::as_str))
    }

    /// The spans of functions, for "candidate" notes.
    pub(super) fn declared_at(&self, symbol: &Symbol) -> Option<Span> {
        match symbol {
            Symbol::Functions(entities) => entities.first().map(|&e| self.entity(e).span),
            Symbol::Global(id) => Some(self.program.global(*id).span),
            Symbol::Type(ty) => match *self.types().kind(ty.ty) {
                TyKind::Struct(id) => Some(self.types().struct_(id).span),
                TyKind::Enum(id) => Some(self.types().enum_(id).span),
                _ => None,
            },
            Symbol::Local(id) => self.function.locals.get(id.0 as usize).map(|local| local.span),
            Symbol::ClassTemplate(id) => Some(self.class_templates[id.0 as usize].span),
            _ => None,
        }
    }
}
