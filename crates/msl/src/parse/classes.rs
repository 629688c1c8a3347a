//! Structs, classes and unions.

use super::ast::*;
use super::names::{NameKind, ScopeId};
use super::paths::{Denotes, ParsedPath, PathPlace};
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{Attempt, Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;

impl Parser {
    /// `struct S`, `struct S { … }`, `struct { … }`: declared, defined, or just named.
    pub(super) fn class_specifier(
        &mut self,
        context: DeclarationContext,
        headers: &[TemplateHeader],
        found: &mut DeclSpecifiers,
    ) -> Parse<()> {
        let start = self.span();
        let key = match self.kind() {
            TokenKind::Keyword(Keyword::Class) => ClassKey::Class,
            TokenKind::Keyword(Keyword::Union) => ClassKey::Union,
            _ => ClassKey::Struct,
        };
        self.bump();
        let mut attributes = Vec::new();
        self.opt_attributes(&mut attributes)?;
        let parsed = if self.at_path() { Some(self.path(PathPlace::Type)?) } else { None };
        self.opt_attributes(&mut attributes)?;
        let span = start.to(self.last_span);
        let is_final = self.at_identifier().is_some_and(|word| word == "final")
            && (self.at_nth(1, Punct::LBrace) || self.at_nth(1, Punct::Colon));
        if is_final {
            self.bump();
        }
        let is_definition = self.at(Punct::LBrace) || (self.at(Punct::Colon) && context.is_declaration());
        let is_declaration = self.at(Punct::Semi) && context.is_declaration() && found.base.is_none();
        let Some(parsed) = parsed else {
            return self.unnamed_class(context, key, attributes, span, found);
        };
        if !is_definition && !is_declaration {
            // `struct S *p` makes `S` known as a type.
            if parsed.path.as_ident().is_some() && parsed.denotes == Denotes::Unknown {
                self.open_class_scope(&parsed, headers);
                // In a class, it would be declared outside of it.
                if context.is_declaration() && headers.is_empty() && self.open_classes == 0 {
                    let name = Some(parsed.path.clone());
                    let pack = self.pack_value();
                    let (bases, attributes) = (Vec::new(), Vec::new());
                    let class = ClassDecl {
                        key,
                        name,
                        bases,
                        members: None,
                        attributes,
                        is_final: false,
                        pack,
                        template: None,
                        span,
                    };
                    found.declared = Some(Decl { kind: DeclKind::Class(class), span });
                }
            }
            let path = Path { is_elaborated: true, ..parsed.path };
            found.base = Some(TypeExpr { kind: TypeExprKind::Named(path), span });
            return Ok(());
        }
        if is_definition && !context.allows_definitions() {
            return Err(self.fail("types may not be defined here"));
        }
        let scope = self.open_class_scope(&parsed, headers);
        let pack = self.pack_value();
        let (bases, members) = if is_definition {
            let (bases, mut members) = self.class_definition(scope, key)?;
            if let Some(header) = headers.last() {
                add_guides(header, &mut members);
            }
            self.opt_gnu_attributes(&mut attributes)?;
            (bases, Some(members))
        } else {
            (Vec::new(), None)
        };
        self.place_attributes(&attributes, Subject::Class);
        found.members = Some(scope);
        let template = headers.last().cloned();
        let name = Some(parsed.path.clone());
        let class = ClassDecl { key, name, bases, members, attributes, is_final, pack, template, span };
        found.declared = Some(Decl { kind: DeclKind::Class(class), span: start.to(self.last_span) });
        found.base = Some(TypeExpr { kind: TypeExprKind::Named(parsed.path), span });
        Ok(())
    }

    fn unnamed_class(
        &mut self,
        context: DeclarationContext,
        key: ClassKey,
        mut attributes: Vec<Attribute>,
        span: Span,
        found: &mut DeclSpecifiers,
    ) -> Parse<()> {
        if !(self.at(Punct::LBrace) || self.at(Punct::Colon)) {
            return Err(self.fail("expected identifier or '{'"));
        }
        if !context.allows_definitions() {
            return Err(self.fail("types may not be defined here"));
        }
        let scope = self.names.unnamed_class(self.scope);
        let pack = self.pack_value();
        let (bases, members) = self.class_definition(scope, key)?;
        self.opt_gnu_attributes(&mut attributes)?;
        self.place_attributes(&attributes, Subject::Class);
        let (members, is_final, template) = (Some(members), false, None);
        let class = ClassDecl { key, name: None, bases, members, attributes, is_final, pack, template, span };
        found.members = Some(scope);
        found.base = Some(TypeExpr { kind: TypeExprKind::Class(Box::new(class)), span });
        Ok(())
    }

    /// The value of `#pragma pack` at the current token.
    fn pack_value(&self) -> Option<u8> {
        let later = self.packing.partition_point(|(position, _)| *position <= self.position);
        self.packing[..later].last().and_then(|(_, value)| *value)
    }

    /// Makes a class known before its body is read, and gives the scope of its members.
    fn open_class_scope(&mut self, parsed: &ParsedPath, headers: &[TemplateHeader]) -> ScopeId {
        let Some((last, qualifiers)) = parsed.path.segments.split_last() else {
            return self.scope;
        };
        if last.args.is_some() {
            let primary = self.lookup_path(&parsed.path).and_then(|primary| primary.scope);
            return self.names.open_specialization(primary, &last.name, self.scope);
        }
        let kind = if headers.is_empty() { NameKind::Type } else { NameKind::ClassTemplate };
        let mut declaring = self.names.declaring_scope(self.scope);
        let mut around = self.scope;
        if !qualifiers.is_empty() {
            let outer = Path { segments: qualifiers.to_vec(), ..parsed.path.clone() };
            if let Some(scope) = self.lookup_path(&outer).and_then(|outer| outer.scope) {
                declaring = scope;
                around = self.names.member_definition_scope(self.scope, scope);
            }
        }
        self.names.open_class(declaring, &last.name, kind, around)
    }

    /// `: bases { members }`; the outermost class then reads the bodies of member functions.
    fn class_definition(&mut self, scope: ScopeId, key: ClassKey) -> Parse<(Vec<BaseSpecifier>, Vec<Decl>)> {
        let bases = if self.eat(Punct::Colon) { self.base_clause(scope)? } else { Vec::new() };
        let opening = self.span();
        self.expect(Punct::LBrace)?;
        let is_outermost = self.open_classes == 0;
        let waiting = if is_outermost { std::mem::take(&mut self.late) } else { Vec::new() };
        self.open_classes += 1;
        let members = self.nested(|p| {
            let members = p.with_greater_closing(false, |p| p.in_scope(scope, |p| p.members(opening, key)));
            Ok(members)
        });
        self.open_classes -= 1;
        let mut members = members?;
        if is_outermost {
            let late = std::mem::replace(&mut self.late, waiting);
            self.late_bodies(late, &mut members);
        }
        Ok((bases, members))
    }

    /// `public A, B<T>, C...`
    fn base_clause(&mut self, scope: ScopeId) -> Parse<Vec<BaseSpecifier>> {
        let mut bases = Vec::new();
        loop {
            self.opt_attributes_of(Subject::Class)?;
            if self.at_keyword(Keyword::Virtual) {
                self.unsupported("virtual base classes are not supported in Metal");
                self.bump();
            }
            let access = match self.kind() {
                TokenKind::Keyword(Keyword::Public) => Some(Access::Public),
                TokenKind::Keyword(Keyword::Protected) => Some(Access::Protected),
                TokenKind::Keyword(Keyword::Private) => Some(Access::Private),
                _ => None,
            };
            if access.is_some() {
                self.bump();
            }
            let mut base = self.simple_type("expected class name")?;
            if let Some(members) = self.members_of(&base) {
                self.names.link(scope, members);
            }
            if self.eat(Punct::Ellipsis) {
                let span = base.span.to(self.last_span);
                base = TypeExpr { kind: TypeExprKind::PackExpansion(Box::new(base)), span };
            }
            bases.push(BaseSpecifier { ty: base, access });
            if !self.eat(Punct::Comma) {
                return Ok(bases);
            }
        }
    }

    /// Members up to and with the closing brace.
    fn members(&mut self, opening: Span, _key: ClassKey) -> Vec<Decl> {
        let mut members = Vec::new();
        while !self.at(Punct::RBrace) && !self.at_end() {
            let (first, late) = (members.len(), self.late.len());
            if !self.opt_access(&mut members) {
                self.declaration_or_skip(DeclarationContext::Class, &mut members);
            }
            // The bodies met on the way belong to the first declaration: only that one can be a function or class.
            for body in &mut self.late[late..] {
                body.path.push(first);
            }
        }
        let _ = self.expect_closing(Punct::RBrace, Punct::LBrace, opening);
        members
    }

    /// `public:`
    fn opt_access(&mut self, members: &mut Vec<Decl>) -> bool {
        let access = match self.kind() {
            TokenKind::Keyword(Keyword::Public) => Access::Public,
            TokenKind::Keyword(Keyword::Protected) => Access::Protected,
            TokenKind::Keyword(Keyword::Private) => Access::Private,
            _ => return false,
        };
        let start = self.span();
        self.bump();
        if !self.eat(Punct::Colon) {
            self.error("syntax", self.span(), "expected ':'");
        }
        members.push(Decl { kind: DeclKind::Access(access), span: start.to(self.last_span) });
        true
    }

    /// The class's own name, perhaps with template arguments, followed by parameters.
    pub(super) fn at_constructor(&mut self) -> bool {
        let class = self.names.declaring_scope(self.scope);
        let Some(name) = self.names.class_name(class) else {
            return false;
        };
        if self.at_identifier() != Some(name) {
            return false;
        }
        let mark = self.mark();
        let found = self.attempt(Attempt::Constructor, |p| {
            p.bump();
            if p.at(Punct::Less) {
                p.template_argument_list()?;
            }
            // `S (*f)(int)` declares a member, `S(*x)` in a class nothing else.
            let is_pointer = matches!(p.nth(1), TokenKind::Punct(Punct::Star | Punct::And | Punct::AndAnd));
            if p.at(Punct::LParen) && !is_pointer { Ok(()) } else { Err(Failed) }
        });
        self.reset(mark);
        found.is_some()
    }
}

/// Joins the parameters of a class template with those of its constructors that are templates.
fn add_guides(header: &TemplateHeader, members: &mut [Decl]) {
    for member in members {
        let DeclKind::Function(function) = &mut member.kind else { continue };
        let is_constructor = matches!(function.kind, FunctionKind::Constructor);
        let Some(own) = function.templates.last().filter(|_| is_constructor) else { continue };
        let params = header.params.iter().chain(&own.params).cloned().collect();
        function.guide = Some(TemplateHeader { params, span: own.span });
    }
}
