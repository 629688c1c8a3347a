//! Name lookup: unqualified names from the innermost scope outwards, qualified ones in the scope before `::`.

use super::undeclared::undeclared_qualifier;
use crate::check::Checker;
use crate::check::tables::{Class, EntityId, ScopeId, ScopeKind, Symbol, Tables, native_template, native_type};
use crate::parse::ast;
use crate::types::{QualTy, StructId, Ty, TyKind};

/// Target of a path.
#[derive(Clone, Debug)]
pub(in crate::check) struct Found {
    pub(in crate::check) symbol: Symbol,
    /// For a member: the class it belongs to.
    pub(in crate::check) class: Option<StructId>,
}

/// Scope before `::`.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) enum Qualifier {
    Namespace(ScopeId),
    Type(Ty),
    Dependent,
}

impl<'a> Checker<'a> {
    /// Resolves a path; reports an error if a part before `::` is unknown. `None` if the last name is not
    /// declared: the caller knows whether it expected a type.
    pub(in crate::check) fn resolve_path(&mut self, path: &'a ast::Path) -> Result<Option<Found>, ()> {
        let (last, qualifiers) = path.segments.split_last().expect("a path has a segment");
        if qualifiers.is_empty() && !path.global {
            let scope = self.position.scope();
            return Ok(match path.is_elaborated {
                true => self.tables.lookup_type(scope, &last.name),
                false => self.tables.lookup(scope, &last.name),
            });
        }
        let Some(qualifier) = self.resolve_qualifier(path, qualifiers)? else { return Ok(None) };
        let found = self.lookup_in(qualifier, &last.name);
        if let Some(class) = found.as_ref().and_then(|found| found.class) {
            self.refuse_hidden_name(class, &last.name, last.span);
        }
        Ok(found)
    }

    pub(in crate::check) fn resolve_qualifier(
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
                qualifier = Some(match self.tables.types().referent(ty).ty {
                    Ty::ERROR => return Err(()),
                    Ty::DEPENDENT => Qualifier::Dependent,
                    ty => Qualifier::Type(ty),
                });
                continue;
            }
            let found = match qualifier {
                None => self.tables.lookup_type(self.position.scope(), &segment.name),
                Some(qualifier) => self.lookup_in(qualifier, &segment.name),
            };
            let Some(found) = found else {
                undeclared_qualifier(&mut self.diagnostics, segment);
                return Err(());
            };
            if let Some(class) = found.class {
                self.refuse_hidden_name(class, &segment.name, segment.span);
            }
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
                    self.diagnostics.error("not-a-scope", segment.span, message);
                    return Err(());
                }
            });
        }
        Ok(qualifier)
    }

    pub(in crate::check) fn lookup_in(&mut self, qualifier: Qualifier, name: &str) -> Option<Found> {
        match qualifier {
            Qualifier::Dependent => Some(Found { symbol: Symbol::Dependent, class: None }),
            Qualifier::Namespace(scope) => {
                if let Some(symbol) = self.tables.scopes().find_in(scope, name) {
                    return Some(Found { symbol, class: None });
                }
                let has_natives = match &self.tables.scopes().get(scope).kind {
                    ScopeKind::Namespace(namespace) => namespace.is_empty() || namespace == "metal",
                    _ => false,
                };
                if has_natives { self.tables.lookup_native(name) } else { None }
            }
            Qualifier::Type(ty) => match *self.tables.types().kind(ty) {
                TyKind::Struct(id) => {
                    self.complete_class(id);
                    self.tables.lookup_member(id, name)
                }
                TyKind::Enum(id) => {
                    let value = self.tables.types().enum_(id).enumerators.iter().find(|(n, _)| n == name)?.1;
                    Some(Found { symbol: Symbol::Value(ty, crate::program::Value::Int(value)), class: None })
                }
                // The type behind `thread_elements()`.
                TyKind::SimdgroupMatrix { element } if name == "storage_type" => {
                    let elements = self.tables.types_mut().vector(element, 2);
                    Some(Found { symbol: Symbol::Type(QualTy::plain(elements)), class: None })
                }
                _ => None,
            },
        }
    }

    /// The scope of a namespace path, for `using namespace`.
    pub(in crate::check) fn resolve_namespace(&mut self, path: &'a ast::Path) -> Option<ScopeId> {
        match self.resolve_path(path) {
            Ok(Some(Found { symbol: Symbol::Namespace(scope), .. })) => Some(scope),
            Ok(_) => {
                let name = &path.last().name;
                let mut message = format!("expected namespace name, found '{name}'");
                if name == "metal" {
                    message = "namespace 'metal' is not declared; did you forget '#include <metal_stdlib>'?".into();
                }
                self.diagnostics.error("not-a-namespace", path.last().span, message);
                None
            }
            Err(()) => None,
        }
    }
}

impl<'a> Tables<'a> {
    /// Meaning of `name` in `scope`; `None` if it is not declared.
    pub(in crate::check) fn lookup(&mut self, scope: ScopeId, name: &str) -> Option<Found> {
        self.lookup_if(scope, name, |_| true)
    }

    /// Meaning of `struct name` or `name::`, which no variable or function hides.
    fn lookup_type(&mut self, scope: ScopeId, name: &str) -> Option<Found> {
        let is_type = |symbol: &Symbol| {
            !matches!(
                symbol,
                Symbol::Local(_)
                    | Symbol::Capture(_)
                    | Symbol::Global(_)
                    | Symbol::Field(_)
                    | Symbol::Functions(_)
                    | Symbol::Value(..)
            )
        };
        self.lookup_if(scope, name, is_type).or_else(|| self.lookup(scope, name))
    }

    fn lookup_if(&mut self, scope: ScopeId, name: &str, counts: impl Fn(&Symbol) -> bool) -> Option<Found> {
        let mut scope = Some(scope);
        while let Some(id) = scope {
            let found = match self.scopes().get(id).kind {
                ScopeKind::Class(class) => self.lookup_unqualified(class, name),
                _ => self.scopes().find_in(id, name).map(|symbol| Found { symbol, class: None }),
            };
            if found.as_ref().is_some_and(|found| counts(&found.symbol)) {
                return found;
            }
            scope = self.scopes().get(id).parent;
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

    /// True if the parameters of two functions are written alike.
    fn has_same_params(&self, a: EntityId, b: EntityId) -> bool {
        let params = |id: EntityId| self.entity(id).source.params();
        let text = |param: &ast::Param| self.sources().text(param.ty.span).to_owned();
        params(a).len() == params(b).len() && params(a).iter().zip(params(b)).all(|(a, b)| text(a) == text(b))
    }

    /// A member that is named without an object or class: bases that depend on template parameters do not count.
    fn lookup_unqualified(&self, class: StructId, name: &str) -> Option<Found> {
        if self.class(class).decl.is_some_and(|decl| self.is_in_stdlib(decl.span)) {
            return self.lookup_member(class, name);
        }
        let is_used = self.class(class).used.iter().any(|(used, _)| used == name);
        if is_used || self.scopes().own(self.class(class).scope, name).is_some() {
            return self.lookup_member(class, name);
        }
        let Class { bases, dependent_bases, .. } = self.class(class);
        let mut known = bases.iter().filter(|base| !dependent_bases.contains(base));
        known.find_map(|&base| self.lookup_unqualified(base, name))
    }

    /// A member of a class or of its bases.
    pub(in crate::check) fn lookup_member(&self, class: StructId, name: &str) -> Option<Found> {
        let scope = self.class(class).scope;
        let used = self.class(class).used.iter().find(|(used, _)| used == name).map(|(_, owner)| *owner);
        if let Some(symbol) = self.scopes().own(scope, name) {
            let mut symbol = symbol.clone();
            // `using Base::f;` adds the functions that no function of the class hides.
            if let (Symbol::Functions(own), Some(owner)) = (&mut symbol, used)
                && let Some(Found { symbol: Symbol::Functions(inherited), .. }) = self.lookup_member(owner, name)
            {
                let is_hidden = |entity: &EntityId| own.iter().any(|own| self.has_same_params(*own, *entity));
                let added: Vec<EntityId> = inherited.into_iter().filter(|entity| !is_hidden(entity)).collect();
                own.extend(added);
            }
            return Some(Found { symbol, class: Some(class) });
        }
        if let Some(owner) = used {
            return self.lookup_member(owner, name);
        }
        for base in self.class(class).bases.clone() {
            if let Some(found) = self.lookup_member(base, name) {
                return Some(found);
            }
        }
        self.class(class).has_dependent_base.then_some(Found { symbol: Symbol::Dependent, class: Some(class) })
    }
}
