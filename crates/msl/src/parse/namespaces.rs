//! Namespaces, `using`, and aliases.

use super::ast::{AliasDecl, Decl, DeclKind, Ident, Path, TemplateHeader, TypeExpr, TypeExprKind};
use super::names::{Name, NameKind, ScopeId};
use super::paths::{Denotes, PathPlace};
use super::specifiers::DeclarationContext;
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;
use smol_str::SmolStr;

impl Parser {
    pub(super) fn identifier(&mut self) -> Parse<Ident> {
        let span = self.span();
        let Some(name) = self.at_identifier().cloned() else {
            return Err(self.fail("expected identifier"));
        };
        self.bump();
        Ok(Ident { name, span })
    }

    /// `namespace a::b { … }`, `inline namespace …`, `namespace a = b;`
    pub(super) fn namespace(&mut self, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        let inline = self.eat_keyword(Keyword::Inline);
        self.bump();
        self.opt_attributes_of(Subject::Namespace)?;
        let mut names = Vec::new();
        while self.at_identifier().is_some() {
            names.push(self.identifier()?);
            if names.len() + self.depth.nesting() as usize > super::MAX_NESTING as usize {
                return Err(self.too_nested());
            }
            if !self.eat(Punct::ColonColon) {
                break;
            }
        }
        self.opt_attributes_of(Subject::Namespace)?;
        if let [name] = &*names
            && self.at(Punct::Assign)
        {
            let name = name.clone();
            return self.namespace_alias(name, start, decls);
        }
        let opening = self.span();
        self.expect(Punct::LBrace)?;
        let mut scope = self.scope;
        let innermost = names.len().max(1) - 1;
        for index in 0..=innermost {
            let name = names.get(index).map(|name| name.name.clone());
            scope = self.names.open_namespace(scope, name, inline && index == innermost);
        }
        let mut inside = self.nested(|p| Ok(p.in_scope(scope, |p| p.declarations_in_braces(opening))))?;
        let span = start.to(self.last_span);
        loop {
            let name = names.pop();
            let is_last = names.is_empty();
            let kind = DeclKind::Namespace { name, inline: inline && is_last, decls: inside };
            inside = vec![Decl { kind, span }];
            if is_last {
                break;
            }
        }
        decls.append(&mut inside);
        Ok(())
    }

    /// Declarations up to and with the closing brace.
    fn declarations_in_braces(&mut self, opening: Span) -> Vec<Decl> {
        let mut decls = Vec::new();
        while !self.at(Punct::RBrace) && !self.at_end() {
            self.declaration_or_skip(DeclarationContext::Namespace, &mut decls);
        }
        // An error was reported; the end of the file is the place to carry on.
        let _ = self.expect_closing(Punct::RBrace, Punct::LBrace, opening);
        decls
    }

    fn namespace_alias(&mut self, name: Ident, start: Span, decls: &mut Vec<Decl>) -> Parse<()> {
        self.bump();
        let parsed = self.path(PathPlace::Ordinary)?;
        if let Denotes::Namespace(scope) = parsed.denotes {
            let alias = Name { kind: NameKind::Namespace, scope: Some(scope) };
            self.names.declare(self.scope, name.name.clone(), alias);
        }
        self.expect_semicolon("expected ';' after namespace name");
        let kind = DeclKind::NamespaceAlias(name, parsed.path);
        decls.push(Decl { kind, span: start.to(self.last_span) });
        Ok(())
    }

    /// `extern "C" { … }` or `extern "C" declaration`: the names mean the same.
    pub(super) fn linkage_block(&mut self, decls: &mut Vec<Decl>) -> Parse<()> {
        self.bump();
        self.bump();
        let opening = self.span();
        if !self.eat(Punct::LBrace) {
            return self.nested(|p| p.declaration(DeclarationContext::Namespace, decls));
        }
        let mut inside = self.nested(|p| Ok(p.declarations_in_braces(opening)))?;
        decls.append(&mut inside);
        Ok(())
    }

    /// `using namespace a;`, `using a::b;`, `using T = int;`
    pub(super) fn using(&mut self, context: DeclarationContext, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        self.bump();
        if self.eat_keyword(Keyword::Namespace) {
            return self.using_directive(start, decls);
        }
        let is_alias = self.at_identifier().is_some()
            && (self.at_nth(1, Punct::Assign)
                || matches!(self.nth(1), TokenKind::Keyword(Keyword::Attribute))
                || (self.at_nth(1, Punct::LBracket) && self.at_nth(2, Punct::LBracket)));
        if is_alias {
            return self.alias_declaration(None, start, decls);
        }
        self.using_declaration(context, start, decls)
    }

    fn using_directive(&mut self, start: Span, decls: &mut Vec<Decl>) -> Parse<()> {
        let parsed = self.path(PathPlace::Ordinary)?;
        if let Denotes::Namespace(scope) = parsed.denotes {
            self.names.link(self.scope, scope);
        }
        self.expect_semicolon("expected ';' after namespace name");
        decls.push(Decl { kind: DeclKind::UsingNamespace(parsed.path), span: start.to(self.last_span) });
        Ok(())
    }

    fn using_declaration(&mut self, context: DeclarationContext, start: Span, decls: &mut Vec<Decl>) -> Parse<()> {
        loop {
            let is_type = self.eat_keyword(Keyword::Typename);
            let parsed = self.path(if is_type { PathPlace::Type } else { PathPlace::Ordinary })?;
            let name = parsed.path.last().name.clone();
            if parsed.path.segments.len() == 1 && !parsed.path.global {
                self.error("syntax", parsed.path.span, "using declaration requires a qualified name");
            }
            let found = self.lookup_path(&parsed.path);
            let default = if is_type { NameKind::Type } else { NameKind::Value };
            // A base class's constructors keep the name of the class.
            let inherits_constructors = context == DeclarationContext::Class && {
                let segments = &parsed.path.segments;
                segments.len() > 1 && segments[segments.len() - 2].name == name
            };
            if parsed.path.segments.len() > 1 && !inherits_constructors {
                self.names.declare(self.scope, name, found.unwrap_or(Name::new(default)));
            }
            decls.push(Decl { kind: DeclKind::Using(parsed.path), span: start.to(self.last_span) });
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_semicolon("expected ';' after using declaration");
        Ok(())
    }

    /// `name = T;` behind `using`, perhaps behind a template header.
    pub(super) fn alias_declaration(
        &mut self,
        template: Option<TemplateHeader>,
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<()> {
        let name = self.identifier()?;
        let mut attributes = Vec::new();
        self.opt_attributes(&mut attributes)?;
        self.expect(Punct::Assign)?;
        let ty = self.aliased_type(decls)?;
        self.opt_gnu_attributes(&mut attributes)?;
        self.place_attributes(&attributes, Subject::Alias);
        let kind = if template.is_some() { NameKind::ClassTemplate } else { NameKind::Type };
        let scope = self.members_of(&ty);
        let declaring = self.names.declaring_scope(self.scope);
        self.names.declare(declaring, name.name.clone(), Name { kind, scope });
        self.expect_semicolon("expected ';' after alias declaration");
        let kind = DeclKind::Alias(AliasDecl { name, ty, attributes, template });
        decls.push(Decl { kind, span: start.to(self.last_span) });
        Ok(())
    }

    /// Target of a path, as far as the parser knows.
    pub(super) fn lookup_path(&self, path: &Path) -> Option<Name> {
        let lookup = |scope: Option<ScopeId>, name: &SmolStr| match scope {
            Some(scope) => self.names.lookup_member(scope, name),
            None => self.names.lookup(self.scope, name),
        };
        let mut scope = path.global.then_some(ScopeId::ROOT);
        let (last, qualifiers) = path.segments.split_last()?;
        for segment in qualifiers {
            scope = Some(lookup(scope, &segment.name)?.scope?);
        }
        lookup(scope, &last.name)
    }

    /// The scope of a named class type's members.
    pub(super) fn members_of(&self, ty: &TypeExpr) -> Option<ScopeId> {
        match &ty.kind {
            TypeExprKind::Named(path) => self.lookup_path(path)?.scope,
            TypeExprKind::Qualified { inner, .. } | TypeExprKind::PackExpansion(inner) => self.members_of(inner),
            _ => None,
        }
    }
}
