//! Declarations at namespace scope, and those that mean the same everywhere: aliases, enums, assertions.

use super::alignment::AlignedThing;
use crate::check::Checker;
use crate::check::expressions::truth;
use crate::check::tables::{AliasTemplate, ScopeKind, Symbol};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, DeclKind};
use crate::source::Span;
use rustc_hash::FxHashMap as HashMap;
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(in crate::check) fn declare_all(&mut self, decls: &'a [ast::Decl]) {
        for decl in decls {
            self.declare(decl);
            if !matches!(decl.kind, DeclKind::Namespace { .. }) {
                self.check_queued_bodies();
            }
        }
    }

    /// A declaration at namespace scope.
    fn declare(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::Namespace { name, inline, decls } => self.declare_namespace(name.as_ref(), *inline, decls),
            DeclKind::Function(function) => {
                self.declare_function(function);
            }
            DeclKind::Var(var) => self.declare_namespace_var(var),
            DeclKind::Instantiation(instantiation) => self.declare_instantiation(instantiation),
            _ => self.declare_anywhere(decl),
        }
    }

    /// Declarations that mean the same at namespace scope, in a class and in a function.
    pub(in crate::check) fn declare_anywhere(&mut self, decl: &'a ast::Decl) {
        match &decl.kind {
            DeclKind::UsingNamespace(path) => {
                if let Some(namespace) = self.resolve_namespace(path) {
                    self.tables.scopes_mut().add_using(self.position.scope(), namespace);
                }
            }
            DeclKind::Using(path) => self.declare_using(path),
            DeclKind::NamespaceAlias(name, path) => {
                if let Some(namespace) = self.resolve_namespace(path) {
                    let scope = self.position.scope();
                    let old =
                        self.tables.scopes_mut().insert(scope, name.name.clone(), Symbol::Namespace(namespace));
                    let message = match old {
                        Some(Symbol::Namespace(old)) if old == namespace => return,
                        Some(Symbol::Namespace(_)) => {
                            format!("redefinition of '{}' as an alias for a different namespace", name.name)
                        }
                        Some(_) => format!("redefinition of '{}' as different kind of symbol", name.name),
                        None => return,
                    };
                    self.diagnostics.error("redefinition", name.span, message);
                }
            }
            DeclKind::Alias(alias) => self.declare_alias(alias),
            DeclKind::Class(class) => {
                self.declare_class(class);
            }
            DeclKind::Enum(decl) => {
                self.declare_enum(decl);
            }
            DeclKind::StaticAssert { condition, message } => self.check_static_assert(condition, message.as_ref()),
            DeclKind::Friend(inner) => {
                let namespace = self.tables.scopes().enclosing_namespace(self.position.scope());
                let ScopeKind::Class(class) = self.tables.scopes().get(self.position.scope()).kind else { return };
                match &inner.kind {
                    DeclKind::Function(function) => {
                        self.tables.class_mut(class).friends.push(function.name.last().name.clone());
                        // The pattern of a template declares nothing: each instance has a friend of its own.
                        if !self.tables.class(class).is_pattern {
                            self.declare_friend(function, namespace);
                        }
                    }
                    DeclKind::Class(ast::ClassDecl { name: Some(name), .. }) => {
                        self.tables.class_mut(class).friends.push(name.last().name.clone());
                    }
                    DeclKind::Var(var) => {
                        let span = var.name.as_ref().map_or(decl.span, |name| name.span);
                        self.diagnostics.error("friend", span, "friends can only be classes or functions");
                    }
                    _ => {}
                }
            }
            DeclKind::Access(_) | DeclKind::Empty => {}
            DeclKind::Namespace { .. } => {
                self.diagnostics.error(
                    "namespace",
                    decl.span,
                    "namespaces can only be defined in global or namespace scope",
                );
            }
            DeclKind::Instantiation(_) => {
                self.diagnostics.error(
                    "instantiation",
                    decl.span,
                    "explicit instantiation must occur at namespace scope",
                );
            }
            DeclKind::Function(function) => {
                self.diagnostics.error("function", function.name.span, "function declaration is not allowed here");
            }
            DeclKind::Var(var) => {
                let span = var.name.as_ref().map_or(decl.span, |name| name.span);
                self.diagnostics.error("variable", span, "variable declaration is not allowed here");
            }
        }
    }

    fn declare_namespace(&mut self, name: Option<&'a ast::Ident>, inline: bool, decls: &'a [ast::Decl]) {
        let parent = self.position.scope();
        let text = name.map_or(SmolStr::new_static("(anonymous)"), |name| name.name.clone());
        let existing = match self.tables.scopes().own(parent, &text) {
            Some(Symbol::Namespace(scope)) => Some(*scope),
            Some(other) => {
                let other = other.clone();
                if let Some(name) = name {
                    let message = format!("redefinition of '{text}' as different kind of symbol");
                    let diagnostic = Diagnostic::error("redefinition", name.span, message);
                    let previous = self.tables.declared_at(self.function.locals(), &other);
                    self.diagnostics.report(match previous {
                        Some(span) => diagnostic.note(span, "previous definition is here"),
                        None => diagnostic,
                    });
                }
                None
            }
            None => None,
        };
        let scope = existing.unwrap_or_else(|| {
            let full_name = format!("{}{text}", self.tables.scopes().namespace_prefix(parent));
            let scope = self.tables.scopes_mut().add(parent, ScopeKind::Namespace(full_name.into()));
            self.tables.scopes_mut().insert(parent, text, Symbol::Namespace(scope));
            scope
        });
        if inline || name.is_none() {
            self.tables.scopes_mut().add_using(parent, scope);
        }
        self.in_scope(scope, |this| this.declare_all(decls));
    }

    fn declare_using(&mut self, path: &'a ast::Path) {
        let name = path.last().name.clone();
        match self.resolve_path(path) {
            Ok(Some(found)) => match found.symbol {
                Symbol::Functions(entities) => {
                    for entity in entities {
                        self.tables.scopes_mut().add_function(self.position.scope(), &name, entity);
                    }
                }
                symbol => {
                    self.tables.scopes_mut().insert(self.position.scope(), name, symbol);
                }
            },
            Ok(None) => self.undeclared(path, false),
            Err(()) => {}
        }
    }

    fn declare_alias(&mut self, alias: &'a ast::AliasDecl) {
        let name = &alias.name.name;
        if let Some(header) = &alias.template {
            self.alignment(&alias.attributes, AlignedThing::AliasTemplate);
            let scope = self.position.scope();
            let template = AliasTemplate { decl: alias, header, scope, instances: HashMap::default() };
            let id = self.tables.add_alias_template(template);
            self.insert_once(name, Symbol::AliasTemplate(id), alias.name.span);
            return;
        }
        let mut ty = self.resolve_type(&alias.ty);
        for attribute in alias.attributes.iter().filter(|attribute| attribute.name == "ext_vector_type") {
            ty = self.extended_vector(attribute, ty);
        }
        self.align_alias(alias, ty.ty);
        // `typedef struct { … } name;` gives the struct its name.
        if let ast::TypeExprKind::Class(_) = alias.ty.kind
            && let Some(id) = self.tables.types().struct_id(ty.ty)
            && self.tables.types().struct_(id).name.starts_with('(')
        {
            self.tables.types_mut().struct_mut(id).name = name.clone();
        }
        if let ast::TypeExprKind::Enum(_) = alias.ty.kind
            && let Some(id) = self.tables.types().enum_id(ty.ty)
            && self.tables.types().enum_(id).name.starts_with('(')
        {
            self.tables.types_mut().enum_mut(id).name = name.clone();
        }
        match self.tables.scopes().own(self.position.scope(), name) {
            Some(Symbol::Type(_)) if self.is_member(name) => {
                self.diagnostics.error("redefinition", alias.name.span, format!("redefinition of '{name}'"));
            }
            Some(Symbol::Type(old)) if old.ty.is_unknown() || ty.ty.is_unknown() => {}
            Some(Symbol::Type(old)) if old.but_for_thread() == ty.but_for_thread() => {}
            Some(Symbol::Type(old)) => {
                let message = format!(
                    "typedef redefinition with different types ('{}' vs '{}')",
                    self.tables.name_of_qual(ty),
                    self.tables.name_of_qual(*old)
                );
                self.diagnostics.error("redefinition", alias.name.span, message);
            }
            _ => self.insert_once(name, Symbol::Type(ty), alias.name.span),
        }
    }

    /// Declares `name`; reports an error if it is taken in this scope.
    pub(in crate::check) fn insert_once(&mut self, name: &SmolStr, symbol: Symbol, span: Span) {
        let scope = self.position.scope();
        self.refuse_template_parameter(name, span);
        let hides_class = !matches!(symbol, Symbol::Type(_) | Symbol::ClassTemplate(_) | Symbol::AliasTemplate(_));
        let old = self.tables.scopes().conflicting(scope, name).cloned();
        let old = old.filter(|old| !(hides_class && self.tables.is_tag(old, name)));
        self.tables.scopes_mut().insert(scope, name.clone(), symbol);
        if let Some(old) = old {
            let message = format!("redefinition of '{name}'");
            let diagnostic = Diagnostic::error("redefinition", span, message);
            let previous = self.tables.declared_at(self.function.locals(), &old);
            self.diagnostics.report(match previous {
                Some(span) => diagnostic.note(span, "previous definition is here"),
                None => diagnostic,
            });
        }
    }

    /// True if this is a class that has such a member already.
    fn is_member(&self, name: &str) -> bool {
        match self.tables.scopes().get(self.position.scope()).kind {
            ScopeKind::Class(id) => self.tables.has_member(id, name),
            _ => false,
        }
    }

    /// Reports a declaration of a name that is a template parameter here.
    pub(in crate::check) fn refuse_template_parameter(&mut self, name: &SmolStr, span: Span) {
        if self.tables.scopes().is_template_parameter(self.position.scope(), name) {
            let message = format!("declaration of '{name}' shadows template parameter");
            self.diagnostics.error("redefinition", span, message);
        }
    }

    fn check_static_assert(&mut self, condition: &'a ast::Expr, message: Option<&SmolStr>) {
        let checked = self.check_condition_value(condition);
        if checked.ty.ty.is_unknown() {
            return;
        }
        let Some(value) =
            self.evaluate_or_report(&checked, "static assertion expression is not an integral constant expression")
        else {
            return;
        };
        if truth(&value) == Some(false) {
            let text = match message {
                Some(message) => format!("static assertion failed: {message}"),
                None => "static assertion failed".to_string(),
            };
            self.diagnostics.error("static-assert", condition.span, text);
        }
    }
}
