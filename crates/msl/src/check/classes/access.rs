//! Private and protected members.

use crate::check::Checker;
use crate::check::tables::{EntityId, ScopeId, ScopeKind, Symbol, Tables};
use crate::diagnostics::Diagnostic;
use crate::parse::ast;
use crate::program::FunctionId;
use crate::source::Span;
use crate::types::{StructId, Ty};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    /// Refuses a private or protected member function; `object` is the class of the object, if one is written.
    pub(in crate::check) fn refuse_inaccessible(&mut self, entity: EntityId, object: Option<StructId>, span: Span) {
        let access = self.tables.entity(entity).access;
        let Some(class) = self.tables.entity(entity).class else { return };
        if access == ast::Access::Public || self.may_access(class, access, object) {
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

impl<'a> Checker<'a> {
    /// True if this place may use members of `class` with this access, in an object of class `object`.
    pub(in crate::check) fn may_access(
        &self,
        class: StructId,
        access: ast::Access,
        object: Option<StructId>,
    ) -> bool {
        self.tables.may_access(self.function.id(), self.position.scope(), class, access, object)
    }

    /// Refuses a type, enumerator or constant that its class declares private or protected.
    pub(in crate::check) fn refuse_hidden_name(&mut self, class: StructId, name: &SmolStr, span: Span) {
        let Some(&access) = self.tables.class(class).hidden.get(name) else { return };
        // The signature of a friend is checked outside of any function.
        let may_be_friend = self.function.id().is_none() && !self.tables.class(class).friends.is_empty();
        if may_be_friend || self.may_access(class, access, None) {
            return;
        }
        let word = if access == ast::Access::Private { "private" } else { "protected" };
        let message = format!("'{name}' is a {word} member of '{}'", self.tables.types().struct_(class).name);
        self.diagnostics.error("access", span, message);
    }

    /// Refuses a member that `owner` declares and objects of `class` hide by private or protected inheritance, or
    /// have more than once.
    pub(in crate::check) fn refuse_hidden_member(
        &mut self,
        class: StructId,
        owner: StructId,
        name: &str,
        span: Span,
    ) {
        let owners = self.tables.owners_of(class, name);
        if let [first, rest @ ..] = &*owners
            && !rest.is_empty()
        {
            let message = match rest.iter().all(|other| other == first) {
                true => format!(
                    "non-static member '{name}' found in multiple base-class subobjects of type '{}'",
                    self.tables.types().struct_(*first).name
                ),
                false => format!("member '{name}' found in multiple base classes of different types"),
            };
            self.diagnostics.error("ambiguous-member", span, message);
            return;
        }
        if self.tables.is_used(class, name) {
            return;
        }
        let Some((access, base, declared)) = self.inaccessible_base(class, owner) else { return };
        let message = format!("'{name}' is a {access} member of '{}'", self.tables.types().struct_(base).name);
        let diagnostic = Diagnostic::error("access", span, message);
        self.diagnostics.report(diagnostic.note(declared, format!("constrained by {access} inheritance here")));
    }

    /// Refuses the conversion of a class to a base that it hides or has more than once.
    pub(in crate::check) fn refuse_hidden_base(&mut self, derived: Ty, base: Ty, span: Span) {
        let types = self.tables.types();
        let (Some(class), Some(target)) = (types.struct_id(derived), types.struct_id(base)) else { return };
        if class == target {
            return;
        }
        let (from, to) = (self.tables.name_of(derived), self.tables.name_of(base));
        if self.tables.count_bases(class, target) > 1 {
            let message = format!("ambiguous conversion from derived class '{from}' to base class '{to}'");
            self.diagnostics.error("ambiguous-base", span, message);
        } else if let Some((access, _, declared)) = self.inaccessible_base(class, target) {
            let message = format!("cannot cast '{from}' to its {access} base class '{to}'");
            let diagnostic = Diagnostic::error("access", span, message);
            self.diagnostics.report(diagnostic.note(declared, format!("declared {access} here")));
        }
    }

    /// The first base on the way from `class` to `base` that this place may not use: its access, itself, its
    /// declaration.
    fn inaccessible_base(&self, class: StructId, base: StructId) -> Option<(&'static str, StructId, Span)> {
        let mut at = class;
        for step in self.tables.path_to_base(class, base)? {
            let field = &self.tables.types().struct_(at).fields[step as usize];
            let access = self.tables.class(at).field_access[step as usize];
            let next = self.tables.types().struct_id(field.ty.ty)?;
            let word = match access {
                ast::Access::Public => None,
                ast::Access::Protected => Some("protected"),
                ast::Access::Private => Some("private"),
            };
            if let Some(word) = word
                && field.is_base
                && !self.may_access(at, access, None)
            {
                return Some((word, next, field.span));
            }
            at = next;
        }
        None
    }
}

impl<'a> Tables<'a> {
    /// Notes the types, enumerators and constants that a member declares as not public.
    pub(super) fn hide_names(&mut self, id: StructId, member: &ast::Decl, access: ast::Access) {
        let mut names = Vec::new();
        match &member.kind {
            ast::DeclKind::Alias(alias) => names.push(alias.name.name.clone()),
            ast::DeclKind::Class(class) => names.extend(class.name.as_ref().map(|path| path.last().name.clone())),
            ast::DeclKind::Var(var) if var.specifiers.is_static => {
                names.extend(var.name.as_ref().map(|path| path.last().name.clone()));
            }
            ast::DeclKind::Enum(decl) => {
                names.extend(decl.name.as_ref().map(|name| name.name.clone()));
                let enumerators = decl.enumerators.iter().flatten().filter(|_| !decl.scoped);
                names.extend(enumerators.map(|enumerator| enumerator.name.name.clone()));
            }
            _ => {}
        }
        self.class_mut(id).hidden.extend(names.into_iter().map(|name| (name, access)));
    }

    /// The classes in which objects of `class` find a field `name`, one for each object in them that has it.
    fn owners_of(&self, class: StructId, name: &str) -> Vec<StructId> {
        match self.scopes().own(self.class(class).scope, name) {
            Some(Symbol::Field(_) | Symbol::Functions(_)) => vec![class],
            Some(_) => Vec::new(),
            None if self.is_used(class, name) => Vec::new(),
            None => self.class(class).bases.iter().flat_map(|base| self.owners_of(*base, name)).collect(),
        }
    }

    /// True if a `using` declaration of the class names a member of a base.
    fn is_used(&self, class: StructId, name: &str) -> bool {
        self.class(class).used.iter().any(|(used, _)| used == name)
    }

    /// Number of objects of class `base` in one of `class`.
    fn count_bases(&self, class: StructId, base: StructId) -> usize {
        let own = |id: StructId| usize::from(id == base) + self.count_bases(id, base);
        self.class(class).bases.iter().map(|id| own(*id)).sum()
    }

    /// True if code of `function` in `scope` may use members of `class` with this access.
    pub(in crate::check) fn may_access(
        &self,
        function: Option<FunctionId>,
        scope: ScopeId,
        class: StructId,
        access: ast::Access,
        object: Option<StructId>,
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
                // A protected member is used through an object of the class that derives, or of one derived from it.
                let is_own = object.is_none_or(|object| self.path_to_base(object, inside).is_some());
                let derives =
                    access == ast::Access::Protected && is_own && self.path_to_base(inside, class).is_some();
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
