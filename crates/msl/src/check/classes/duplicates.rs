//! Members that a class declares twice.

use crate::check::Checker;
use crate::check::tables::{ClassState, EntityId, ScopeKind, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{ClassKey, FunctionDecl, FunctionKind, Param, TypeExprKind};
use crate::source::Span;
use crate::types::StructId;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Reports the members of an anonymous struct or union that the class around it has already.
    pub(super) fn refuse_repeated_members(&mut self, id: StructId, inner: StructId) {
        let is_union = self.tables.class(inner).decl.is_some_and(|decl| decl.key == ClassKey::Union);
        let what = if is_union { "union" } else { "struct" };
        for (name, span) in self.tables.named_fields(inner) {
            if self.tables.has_member(id, &name) {
                let message = format!("member of anonymous {what} redeclares '{name}'");
                self.diagnostics.error("redefinition", span, message);
            }
        }
    }

    /// Reports a constructor that takes its own class by value, and a template in a class inside a function.
    pub(super) fn refuse_method(&mut self, id: StructId, function: &'a FunctionDecl) {
        let names_class = |param: &Param| match &param.ty.kind {
            TypeExprKind::Named(path) => {
                let name = path.as_ident();
                name.is_some_and(|name| *name == function.name.last().name) && !param.is_pack
            }
            _ => false,
        };
        let is_constructor = matches!(function.kind, FunctionKind::Constructor);
        if is_constructor
            && let [first, rest @ ..] = &*function.params
            && names_class(first)
            && rest.iter().all(|param| param.default.is_some())
        {
            let message = "copy constructor must pass its first argument by reference";
            self.diagnostics.error("constructor", first.span, message);
        }
        let is_local = self.tables.is_local_class(id);
        if is_local && function.templates.iter().any(|header| !header.params.is_empty()) {
            let message = "templates cannot be declared inside of a local class";
            self.diagnostics.error("template", function.name.span, message);
        }
    }

    /// Reports a method, constructor or conversion that the class declares a second time.
    pub(super) fn refuse_redeclared(&mut self, id: StructId, entity: EntityId) {
        let is_instance = self.tables.class(id).template.is_some() && !self.tables.class(id).is_pattern;
        let Some(decl) = self.tables.entity(entity).source.first() else { return };
        if is_instance || self.tables.is_in_stdlib(decl.span) {
            return;
        }
        let (earlier, message) = match decl.kind {
            FunctionKind::Constructor => (self.tables.own_constructors(id), "constructor cannot be redeclared"),
            FunctionKind::Conversion => {
                (self.tables.class(id).conversions.clone(), "conversion function cannot be redeclared")
            }
            _ => match self.tables.scopes().own(self.tables.class(id).scope, &decl.name.last().name) {
                Some(Symbol::Functions(entities)) => (entities.clone(), "class member cannot be redeclared"),
                _ => return,
            },
        };
        for other in earlier {
            if other == entity || !self.same_signature(other, entity) {
                continue;
            }
            let Some(first) = self.tables.entity(other).source.first() else { continue };
            let results = (self.signature(other, &[]), self.signature(entity, &[]));
            let same_result = match &results {
                (Some(a), Some(b)) => a.result == b.result,
                _ => false,
            };
            let is_plain = self.tables.entity(entity).header.is_none();
            let message = match decl.kind {
                FunctionKind::Conversion if !same_result => continue,
                _ if first.specifiers.is_static != decl.specifiers.is_static => {
                    "static and non-static member functions with the same parameter types cannot be overloaded"
                }
                // The other differences are reported where the two are merged.
                FunctionKind::Plain | FunctionKind::Operator(_) if is_plain && !same_result => continue,
                FunctionKind::Plain | FunctionKind::Operator(_) if first.body.is_some() && decl.body.is_some() => {
                    continue;
                }
                _ => message,
            };
            let diagnostic = Diagnostic::error("redefinition", decl.name.span, message);
            self.diagnostics.report(diagnostic.note(first.name.span, "previous declaration is here"));
        }
    }
}

impl<'a> Tables<'a> {
    /// True for a class that a function declares.
    fn is_local_class(&self, id: StructId) -> bool {
        let mut next = self.scopes().get(self.class(id).scope).parent;
        while let Some(scope) = next {
            match self.scopes().get(scope).kind {
                ScopeKind::Namespace(_) => return false,
                ScopeKind::Block | ScopeKind::Controlled => return true,
                ScopeKind::Class(_) | ScopeKind::Template => next = self.scopes().get(scope).parent,
            }
        }
        false
    }

    /// True if the class has declared a member of this name, itself or in an anonymous member. A class or enum in it
    /// does not count: a data member hides it.
    pub(in crate::check) fn has_member(&self, id: StructId, name: &str) -> bool {
        let own = self.scopes().own(self.class(id).scope, name);
        own.is_some_and(|symbol| !self.is_tag(symbol, name))
            || self
                .class(id)
                .anonymous
                .iter()
                .any(|&inner| self.class(inner).state == ClassState::Complete && self.has_member(inner, name))
    }

    /// True for a class or enum under its own name, which other names hide.
    pub(in crate::check) fn is_tag(&self, symbol: &Symbol, name: &str) -> bool {
        let Symbol::Type(ty) = symbol else { return false };
        let class = self.types().struct_id(ty.ty).map(|id| &self.types().struct_(id).name);
        let named = self.types().enum_id(ty.ty).map(|id| &self.types().enum_(id).name);
        class.or(named).is_some_and(|tag| tag == name)
    }

    /// The names of the data members, those of anonymous members included.
    fn named_fields(&self, id: StructId) -> Vec<(SmolStr, Span)> {
        let fields = self.types().struct_(id).fields.iter().filter(|field| !field.name.is_empty());
        let mut named: Vec<_> = fields.map(|field| (field.name.clone(), field.span)).collect();
        named.extend(self.class(id).anonymous.iter().flat_map(|&inner| self.named_fields(inner)));
        named
    }
}
