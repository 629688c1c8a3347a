//! Templates: headers, argument lists, explicit instantiations.

use super::ast::*;
use super::declarators::{Named, Parens};
use super::names::{Name, NameKind, ScopeKind, TYPE_SET_PREFIX};
use super::paths::PathPlace;
use super::specifiers::DeclarationContext;
use super::{Attempt, Failed, Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;
use crate::vocabulary::Subject;

impl Parser {
    /// A template, a specialization, or an explicit instantiation.
    pub(super) fn template(&mut self, context: DeclarationContext, decls: &mut Vec<Decl>) -> Parse<()> {
        let start = self.span();
        let is_extern = self.eat_keyword(Keyword::Extern);
        if !self.at_nth(1, Punct::Less) {
            self.bump();
            return self.explicit_instantiation(is_extern, start, decls);
        }
        let scope = self.scope;
        let result = self.template_with_headers(context, start, decls);
        self.scope = scope;
        result
    }

    fn template_with_headers(
        &mut self,
        context: DeclarationContext,
        start: Span,
        decls: &mut Vec<Decl>,
    ) -> Parse<()> {
        let mut headers = Vec::new();
        while self.at_keyword(Keyword::Template) && self.at_nth(1, Punct::Less) {
            self.scope = self.names.add_scope(ScopeKind::Template, Some(self.scope));
            headers.push(self.template_header()?);
            if headers.len() > super::MAX_NESTING as usize {
                return Err(self.too_nested());
            }
        }
        if self.eat_keyword(Keyword::Using) {
            return self.alias_declaration(headers.pop(), start, decls);
        }
        if context == DeclarationContext::Block {
            self.error("syntax", start, "templates can only be declared in namespace or class scope");
        }
        self.simple_declaration(context, headers, start, decls)
    }

    /// `template <…>`
    fn template_header(&mut self) -> Parse<TemplateHeader> {
        let start = self.span();
        self.bump();
        let params = self.template_parameter_list()?;
        Ok(TemplateHeader { params, span: start.to(self.last_span) })
    }

    /// `<typename T, int N>`; the parameters become known in the current scope.
    fn template_parameter_list(&mut self) -> Parse<Vec<TemplateParam>> {
        let opening = self.span();
        self.expect_after(Punct::Less, "'template'")?;
        let params = self.nested(|p| {
            p.with_greater_closing(true, |p| {
                let mut params = Vec::new();
                while !p.at_closing_angle() {
                    params.push(p.template_parameter()?);
                    if !p.eat(Punct::Comma) {
                        break;
                    }
                }
                Ok(params)
            })
        })?;
        self.closing_angle(opening)?;
        Ok(params)
    }

    fn template_parameter(&mut self) -> Parse<TemplateParam> {
        match self.kind() {
            TokenKind::Keyword(Keyword::Template) => self.template_template_parameter(),
            TokenKind::Keyword(Keyword::Typename | Keyword::Class) if self.at_type_parameter() => {
                self.type_parameter()
            }
            _ => self.value_parameter(),
        }
    }

    /// `typename T` rather than `typename T::U n`.
    fn at_type_parameter(&self) -> bool {
        let n = if self.at_nth(1, Punct::Ellipsis) { 2 } else { 1 };
        let after = if self.at_identifier_nth(n) { n + 1 } else { n };
        use Punct::{Assign, Comma, Greater, GreaterEqual, Shr, ShrAssign};
        matches!(
            self.nth(after),
            TokenKind::Punct(Assign | Comma | Greater | GreaterEqual | Shr | ShrAssign) | TokenKind::Eof
        )
    }

    /// `typename T = float`, `class... T`
    fn type_parameter(&mut self) -> Parse<TemplateParam> {
        let start = self.span();
        self.bump();
        let is_pack = self.eat(Punct::Ellipsis);
        let name = self.opt_parameter_identifier(NameKind::Type)?;
        let default = if self.eat(Punct::Assign) { Some(self.type_id()?) } else { None };
        let kind = TemplateParamKind::Type { default };
        Ok(TemplateParam { name, kind, is_pack, span: start.to(self.last_span) })
    }

    /// `template <typename> class C = D`
    fn template_template_parameter(&mut self) -> Parse<TemplateParam> {
        let start = self.span();
        self.bump();
        let scope = self.names.add_scope(ScopeKind::Template, Some(self.scope));
        let params = self.in_scope(scope, Self::template_parameter_list)?;
        if !(self.eat_keyword(Keyword::Class) || self.eat_keyword(Keyword::Typename)) {
            return Err(
                self.fail("template template parameter requires 'class' or 'typename' after the parameter list")
            );
        }
        let is_pack = self.eat(Punct::Ellipsis);
        let name = self.opt_parameter_identifier(NameKind::ClassTemplate)?;
        let default = if self.eat(Punct::Assign) { Some(self.path(PathPlace::Type)?.path) } else { None };
        let kind = TemplateParamKind::Template { params, default };
        Ok(TemplateParam { name, kind, is_pack, span: start.to(self.last_span) })
    }

    fn opt_parameter_identifier(&mut self, kind: NameKind) -> Parse<Option<Ident>> {
        if self.at_identifier().is_none() {
            return Ok(None);
        }
        let name = self.identifier()?;
        self.names.declare(self.scope, name.name.clone(), Name::new(kind));
        Ok(Some(name))
    }

    /// `int N = 4`, `void (*f)(float)`, `__each_floatn T`
    fn value_parameter(&mut self) -> Parse<TemplateParam> {
        let start = self.span();
        let specifiers = self.decl_specifiers(DeclarationContext::TemplateParameter, &[])?;
        let base = self.required_type(&specifiers, "expected template parameter")?;
        let stands_for_type = matches!(&base.kind, TypeExprKind::Named(path)
            if path.as_ident().is_some_and(|name| name.starts_with(TYPE_SET_PREFIX)));
        let mut declarator = self.declarator_with(Named::Maybe, Parens::Parameters)?;
        let is_pack = declarator.is_pack;
        let name = declarator.name.take().map(|parsed| {
            let segment = parsed.path.last();
            Ident { name: segment.name.clone(), span: segment.span }
        });
        let ty = declarator.apply(base);
        if let Some(name) = &name {
            let kind = if stands_for_type { NameKind::Type } else { NameKind::Value };
            self.names.declare(self.scope, name.name.clone(), Name::new(kind));
        }
        let default = if self.eat(Punct::Assign) { Some(self.conditional_expression()?) } else { None };
        let kind = TemplateParamKind::Value { ty, default };
        Ok(TemplateParam { name, kind, is_pack, span: start.to(self.last_span) })
    }

    /// `<float, 4>`
    pub(super) fn template_argument_list(&mut self) -> Parse<Vec<TemplateArg>> {
        let opening = self.span();
        self.expect(Punct::Less)?;
        let args = self.nested(|p| {
            p.with_greater_closing(true, |p| {
                let mut args = Vec::new();
                while !p.at_closing_angle() {
                    args.push(p.template_argument()?);
                    if !p.eat(Punct::Comma) {
                        break;
                    }
                }
                Ok(args)
            })
        })?;
        self.closing_angle(opening)?;
        Ok(args)
    }

    /// `(T, U)` behind the name of a type trait: the tree shows it like `<T, U>`.
    pub(super) fn type_trait_operands(&mut self) -> Parse<Vec<TemplateArg>> {
        let opening = self.span();
        self.expect(Punct::LParen)?;
        let args = self.nested(|p| {
            p.with_greater_closing(false, |p| {
                let mut args = Vec::new();
                while !p.at(Punct::RParen) {
                    let ty = p.type_id()?;
                    args.push(TemplateArg::Type(p.opt_type_expansion(ty)));
                    if !p.eat(Punct::Comma) {
                        break;
                    }
                }
                Ok(args)
            })
        })?;
        self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
        Ok(args)
    }

    /// `T...`
    fn opt_type_expansion(&mut self, ty: TypeExpr) -> TypeExpr {
        if !self.eat(Punct::Ellipsis) {
            return ty;
        }
        let span = ty.span.to(self.last_span);
        TypeExpr { kind: TypeExprKind::PackExpansion(Box::new(ty)), span }
    }

    /// A type wherever it can be one, else a value.
    fn template_argument(&mut self) -> Parse<TemplateArg> {
        let ty = self.attempt(Attempt::TypeArgument, |p| {
            let ty = p.type_id_strict()?;
            let ends = p.at(Punct::Comma) || p.at_closing_angle() || p.at(Punct::Ellipsis);
            if ends { Ok(ty) } else { Err(Failed) }
        });
        if let Some(ty) = ty {
            return Ok(TemplateArg::Type(self.opt_type_expansion(ty)));
        }
        let value = self.unevaluated(Self::conditional_expression)?;
        if !self.eat(Punct::Ellipsis) {
            return Ok(TemplateArg::Expr(value));
        }
        let span = value.span.to(self.last_span);
        Ok(TemplateArg::Expr(Expr { kind: ExprKind::PackExpansion(Box::new(value)), span }))
    }

    /// The rest of an explicit instantiation, after `template`.
    fn explicit_instantiation(&mut self, is_extern: bool, start: Span, decls: &mut Vec<Decl>) -> Parse<()> {
        let mut attributes = Vec::new();
        self.opt_attributes(&mut attributes)?;
        let is_class = matches!(self.kind(), TokenKind::Keyword(Keyword::Struct | Keyword::Class | Keyword::Union));
        let scope = self.scope;
        let result = if is_class {
            self.class_instantiation(attributes, is_extern)
        } else {
            self.function_instantiation(attributes, is_extern)
        };
        self.scope = scope;
        let instantiation = result?;
        self.expect_semicolon("expected ';' after explicit instantiation");
        decls.push(Decl { kind: DeclKind::Instantiation(instantiation), span: start.to(self.last_span) });
        Ok(())
    }

    /// `struct S<float>`
    fn class_instantiation(&mut self, mut attributes: Vec<Attribute>, is_extern: bool) -> Parse<InstantiationDecl> {
        self.bump();
        self.opt_attributes(&mut attributes)?;
        self.place_attributes(&attributes, Subject::Class);
        let name = self.path(PathPlace::Type)?.path;
        Ok(InstantiationDecl { name, ty: None, attributes, specifiers: Specifiers::default(), is_extern })
    }

    /// `kernel void f<float>(device float *)`, `decltype(f<float>) f<float>`
    fn function_instantiation(
        &mut self,
        mut attributes: Vec<Attribute>,
        is_extern: bool,
    ) -> Parse<InstantiationDecl> {
        let mut found = self.decl_specifiers(DeclarationContext::Namespace, &[])?;
        let base = self.required_type(&found, "expected '<' after 'template'")?;
        let mut declarator = self.declarator_with(Named::Yes, Parens::Parameters)?;
        attributes.append(&mut found.attributes);
        attributes.append(&mut declarator.attributes);
        super::attributes::take_stage(&mut attributes, &mut found.specifiers);
        self.place_attributes(&attributes, Subject::Function);
        let Some(parsed) = declarator.name.take() else {
            return Err(self.fail("expected unqualified-id"));
        };
        let ty = Some(declarator.apply(base));
        Ok(InstantiationDecl { name: parsed.path, ty, attributes, specifiers: found.specifiers, is_extern })
    }
}
