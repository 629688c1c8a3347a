//! Enums.

use super::ast::{Decl, DeclKind, EnumDecl, Enumerator, Ident, Path, PathSegment, TypeExpr, TypeExprKind};
use super::names::{Name, NameKind, ScopeId};
use super::paths::PathPlace;
use super::specifiers::{DeclSpecifiers, DeclarationContext};
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct};
use crate::vocabulary::Subject;

impl Parser {
    /// `enum E`, `enum class E : int { … }`, `enum { … }`
    pub(super) fn enum_specifier(&mut self, context: DeclarationContext, found: &mut DeclSpecifiers) -> Parse<()> {
        let start = self.span();
        self.bump();
        let scoped = self.eat_keyword(Keyword::Class) || self.eat_keyword(Keyword::Struct);
        let mut attributes = Vec::new();
        self.opt_attributes(&mut attributes)?;
        let path = if self.at_path() { Some(self.path(PathPlace::Type)?.path) } else { None };
        self.opt_attributes(&mut attributes)?;
        let span = start.to(self.last_span);
        let has_underlying = self.at(Punct::Colon) && context.is_declaration();
        let is_declaration = self.at(Punct::Semi) && context.is_declaration();
        if let Some(path) = &path
            && !(has_underlying || is_declaration || self.at(Punct::LBrace))
        {
            found.base = Some(TypeExpr { kind: TypeExprKind::Named(path.clone()), span });
            return Ok(());
        }
        if !context.allows_definitions() {
            return Err(self.fail("types may not be defined here"));
        }
        let underlying = if has_underlying {
            self.bump();
            Some(self.simple_type("expected a type")?)
        } else {
            None
        };
        let name = path.map(|path| Ident { name: path.last().name.clone(), span: path.last().span });
        let around = self.names.declaring_scope(self.scope);
        let members = match &name {
            Some(name) => self.names.open_class(around, &name.name, NameKind::Type, self.scope),
            None => self.names.unnamed_class(self.scope),
        };
        found.members = Some(members);
        let enumerators = if self.at(Punct::LBrace) {
            Some(self.enumerators(members, (!scoped).then_some(around))?)
        } else {
            None
        };
        if enumerators.is_none() && name.is_none() {
            return Err(self.fail("expected identifier or '{'"));
        }
        if enumerators.is_some() {
            self.opt_gnu_attributes(&mut attributes)?;
        }
        self.place_attributes(&attributes, Subject::Enum);
        let decl = EnumDecl { name: name.clone(), scoped, underlying, enumerators, attributes, span };
        let Some(name) = name else {
            found.base = Some(TypeExpr { kind: TypeExprKind::Enum(Box::new(decl)), span });
            return Ok(());
        };
        let segments = vec![PathSegment { name: name.name, span: name.span, args: None }];
        let path = Path { global: false, is_elaborated: false, segments, span: name.span };
        found.declared = Some(Decl { kind: DeclKind::Enum(decl), span: start.to(self.last_span) });
        found.base = Some(TypeExpr { kind: TypeExprKind::Named(path), span });
        Ok(())
    }

    /// `{ A, B = 2 }`; the names of an unscoped enum are known around it, too.
    fn enumerators(&mut self, members: ScopeId, around: Option<ScopeId>) -> Parse<Vec<Enumerator>> {
        let opening = self.span();
        self.bump();
        let mut enumerators = Vec::new();
        while !self.at(Punct::RBrace) && !self.at_end() {
            let name = self.identifier()?;
            let mut attributes = Vec::new();
            self.opt_attributes(&mut attributes)?;
            self.place_attributes(&attributes, Subject::Enumerator);
            let value = if self.eat(Punct::Assign) {
                let value = self.with_greater_closing(false, |p| p.in_scope(members, Self::conditional_expression));
                Some(value?)
            } else {
                None
            };
            for scope in [Some(members), around].into_iter().flatten() {
                self.names.declare(scope, name.name.clone(), Name::new(NameKind::Value));
            }
            enumerators.push(Enumerator { name, value, attributes });
            if self.at_identifier().is_some() {
                self.error("syntax", self.last_span.after(), "missing ',' between enumerators");
            } else if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_closing(Punct::RBrace, Punct::LBrace, opening)?;
        Ok(enumerators)
    }
}
