//! Lambda expressions.

use super::ast::{Capture, CaptureMode, Expr, ExprKind, Ident, Lambda};
use super::names::{Name, NameKind, ScopeKind};
use super::specifiers::DeclarationContext;
use super::{Parse, Parser};
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::vocabulary::Subject;

impl Parser {
    /// `[&, x](auto y) mutable -> int { … }`
    pub(super) fn lambda(&mut self) -> Parse<Expr> {
        let start = self.span();
        if self.is_unevaluated {
            return Err(self.fail("a lambda expression may not appear inside of a constant expression"));
        }
        let scope = self.names.add_scope(ScopeKind::Block, Some(self.scope));
        let lambda = self.with_greater_closing(false, |p| p.in_scope(scope, Self::lambda_parts))?;
        let span = start.to(self.last_span);
        Ok(Expr { kind: ExprKind::Lambda(Box::new(Lambda { span, ..lambda })), span })
    }

    fn lambda_parts(&mut self) -> Parse<Lambda> {
        let start = self.span();
        let (default_capture, captures) = self.lambda_introducer()?;
        self.opt_attributes_of(Subject::Lambda)?;
        let params =
            if self.at(Punct::LParen) { self.parameter_list(DeclarationContext::Parameter)? } else { Vec::new() };
        let mut is_mutable = false;
        loop {
            match self.kind() {
                TokenKind::Keyword(Keyword::Mutable) => {
                    is_mutable = true;
                    self.bump();
                }
                TokenKind::Keyword(Keyword::Constexpr) => self.bump(),
                TokenKind::Keyword(Keyword::Noexcept) => self.noexcept_specification()?,
                _ if self.at_attribute() => self.opt_attributes_of(Subject::Lambda)?,
                _ => break,
            }
        }
        let result = if self.eat(Punct::Arrow) { Some(self.type_id()?) } else { None };
        if !self.at(Punct::LBrace) {
            return Err(self.fail("expected body of lambda expression"));
        }
        let open_classes = std::mem::replace(&mut self.open_classes, 0);
        let fp_pragmas = match self.fp_pragmas.is_empty() {
            true => self.fp_pragmas_before(self.position),
            false => self.fp_pragmas.clone(),
        };
        let body = self.block();
        self.open_classes = open_classes;
        Ok(Lambda { default_capture, captures, params, is_mutable, result, body: body?, fp_pragmas, span: start })
    }

    /// `[=, &x, y = 1]`
    fn lambda_introducer(&mut self) -> Parse<(Option<CaptureMode>, Vec<Capture>)> {
        let opening = self.span();
        self.expect(Punct::LBracket)?;
        let mut default = None;
        let ends = |p: &Self| p.at_nth(1, Punct::Comma) || p.at_nth(1, Punct::RBracket);
        if self.at(Punct::Assign) && ends(self) {
            default = Some(CaptureMode::ByCopy);
        } else if self.at(Punct::And) && ends(self) {
            default = Some(CaptureMode::ByReference);
        }
        if default.is_some() {
            self.bump();
            self.eat(Punct::Comma);
        }
        let mut captures = Vec::new();
        while !self.at(Punct::RBracket) && !self.at_end() {
            captures.push(self.capture()?);
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        Ok((default, captures))
    }

    /// `x`, `&x`, `x = e`, `this`, `*this`, `x...`
    fn capture(&mut self) -> Parse<Capture> {
        let by_reference = self.eat(Punct::And);
        let mut mode = if by_reference { CaptureMode::ByReference } else { CaptureMode::ByCopy };
        let copies_object = !by_reference && self.eat(Punct::Star);
        let span = self.span();
        if self.eat_keyword(Keyword::This) {
            if !copies_object {
                mode = CaptureMode::ByReference;
            }
            return Ok(Capture { name: Ident { name: "this".into(), span }, mode, init: None, is_pack: false });
        }
        let Some(name) = self.at_identifier().cloned() else {
            return Err(self.fail("expected variable name or 'this' in lambda capture list"));
        };
        self.bump();
        let start = self.span();
        let init = match self.opt_initializer()? {
            None => None,
            Some(super::ast::Init::Equal(value)) => Some(value),
            Some(super::ast::Init::Paren(mut args, _) | super::ast::Init::Brace(mut args, _)) => {
                let error = Expr { kind: ExprKind::Error, span: start };
                Some(args.pop().unwrap_or(error))
            }
        };
        if init.is_some() {
            self.names.declare(self.scope, name.clone(), Name::new(NameKind::Value));
        }
        let is_pack = self.eat(Punct::Ellipsis);
        Ok(Capture { name: Ident { name, span }, mode, init, is_pack })
    }
}
