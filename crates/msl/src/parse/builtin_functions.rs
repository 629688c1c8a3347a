//! Functions of clang whose arguments are no ordinary expressions: types, members, constants.

use super::ast::{Expr, ExprKind, Path, PathSegment, TemplateArg};
use super::paths::PathPlace;
use super::{Parse, Parser};
use crate::lex::token::Punct;
use crate::source::Span;

impl Parser {
    /// A call of such a function.
    pub(super) fn opt_builtin_function(&mut self) -> Option<Parse<Expr>> {
        let name = self.at_identifier().filter(|_| self.at_nth(1, Punct::LParen))?;
        let arguments = match name.as_str() {
            "__builtin_bit_cast" => Self::bit_cast,
            "__builtin_convertvector" => Self::convert_vector,
            "__builtin_offsetof" => Self::offset_of,
            "__builtin_shufflevector" => Self::shuffle_vector,
            _ => return None,
        };
        Some(self.nested(|p| {
            let start = p.span();
            p.bump();
            let opening = p.span();
            p.bump();
            let kind = p.with_greater_closing(false, |p| arguments(p, start))?;
            p.expect_closing(Punct::RParen, Punct::LParen, opening)?;
            Ok(Expr { kind, span: start.to(p.last_span) })
        }))
    }

    /// `__builtin_bit_cast(T, e)` is `as_type<T>(e)`.
    fn bit_cast(&mut self, start: Span) -> Parse<ExprKind> {
        let ty = self.type_id()?;
        self.expect(Punct::Comma)?;
        let operand = self.assignment_expression()?;
        Ok(call("as_type", vec![TemplateArg::Type(ty)], vec![operand], start))
    }

    /// `__builtin_convertvector(e, T)` is `T(e)`.
    fn convert_vector(&mut self, _: Span) -> Parse<ExprKind> {
        let operand = self.assignment_expression()?;
        self.expect(Punct::Comma)?;
        let ty = self.type_id()?;
        Ok(ExprKind::Construct { ty, args: vec![operand], braces: false })
    }

    /// `__builtin_shufflevector(a, b, 0, 3)` is `__shufflevector<0, 3>(a, b)`.
    fn shuffle_vector(&mut self, start: Span) -> Parse<ExprKind> {
        let first = self.assignment_expression()?;
        self.expect(Punct::Comma)?;
        let second = self.assignment_expression()?;
        let mut indices = Vec::new();
        while self.eat(Punct::Comma) {
            indices.push(TemplateArg::Expr(self.assignment_expression()?));
        }
        Ok(call("__shufflevector", indices, vec![first, second], start))
    }

    /// `__builtin_offsetof(T, a.b[1])`
    fn offset_of(&mut self, start: Span) -> Parse<ExprKind> {
        let ty = self.type_id()?;
        self.expect(Punct::Comma)?;
        let object = Box::new(Expr { span: ty.span, kind: ExprKind::Object(ty) });
        let member = self.path(PathPlace::Member)?.path;
        let kind = ExprKind::Member { base: object, arrow: false, member };
        let member = self.unevaluated(|p| p.postfix_operators(Expr { kind, span: start.to(p.last_span) }))?;
        Ok(ExprKind::OffsetOf(Box::new(member)))
    }
}

/// `name<template_args>(args)`
fn call(name: &'static str, template_args: Vec<TemplateArg>, args: Vec<Expr>, span: Span) -> ExprKind {
    let segment = PathSegment { name: name.into(), span, args: Some(template_args) };
    let path = Path { global: false, is_elaborated: false, segments: vec![segment], span };
    ExprKind::Call { callee: Box::new(Expr { kind: ExprKind::Path(path), span }), args }
}
