//! Expressions: operators, calls, casts.

use super::ast::{BinaryOp, CastKind, Expr, ExprKind, Path, PathSegment, TypeExpr, TypeExprKind, UnaryOp};
use super::operators::{assignment_operator, binary_operator, prefix_operator};
use super::paths::PathPlace;
use super::{Attempt, Failed, MAX_CHAIN, Parse, Parser};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;

/// An operator that waits for its right operand.
struct Pending {
    op: BinaryOp,
    op_span: Span,
    precedence: u8,
}

impl Parser {
    /// `a, b`
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let mut left = self.assignment_expression()?;
        let mut links = 0;
        while self.at(Punct::Comma) && !self.at_nth(1, Punct::Ellipsis) {
            self.count_link(&mut links)?;
            self.bump();
            let right = self.assignment_expression()?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// Counts a link of a left-leaning chain, and gives up on very long ones.
    pub(super) fn count_link(&mut self, links: &mut u32) -> Parse<()> {
        *links += 1;
        if *links > MAX_CHAIN {
            return Err(self.give_up(format!("chain exceeded maximum of {MAX_CHAIN} links")));
        }
        Ok(())
    }

    /// `a = b`, `a += b`, or anything that binds tighter.
    pub(super) fn assignment_expression(&mut self) -> Parse<Expr> {
        let lhs = self.conditional_expression()?;
        let TokenKind::Punct(punct) = *self.kind() else {
            return Ok(lhs);
        };
        if self.greater_closes && punct == Punct::ShrAssign {
            return Ok(lhs);
        }
        let Some(op) = assignment_operator(punct) else {
            return Ok(lhs);
        };
        let op_span = self.span();
        self.bump();
        let rhs = self.nested(Self::initializer_clause)?;
        let span = lhs.span.to(rhs.span);
        Ok(Expr { kind: ExprKind::Assign { op, op_span, lhs: Box::new(lhs), rhs: Box::new(rhs) }, span })
    }

    /// `c ? a : b`
    pub(super) fn conditional_expression(&mut self) -> Parse<Expr> {
        let condition = self.binary_expression()?;
        if !self.at(Punct::Question) {
            return Ok(condition);
        }
        self.nested(|p| p.conditional_branches(condition))
    }

    fn conditional_branches(&mut self, condition: Expr) -> Parse<Expr> {
        let question = self.span();
        self.bump();
        if self.at(Punct::Colon) {
            self.bump();
            let otherwise = self.assignment_expression()?;
            return Ok(self.value_or(condition, otherwise));
        }
        let then = self.expression()?;
        if !self.eat(Punct::Colon) {
            let error =
                Diagnostic::error("syntax", self.span(), "expected ':'").note(question, "to match this '?'");
            self.report(error);
            return Err(Failed);
        }
        let otherwise = self.assignment_expression()?;
        let span = condition.span.to(otherwise.span);
        let [condition, then, otherwise] = [condition, then, otherwise].map(Box::new);
        Ok(Expr { kind: ExprKind::Conditional { condition, then, otherwise }, span })
    }

    /// Binary operators by precedence, with a stack of our own: recursion per level would cost ten frames for each
    /// pair of parentheses.
    fn binary_expression(&mut self) -> Parse<Expr> {
        let first = self.unary_expression()?;
        if self.at_binary_operator().is_none() {
            return Ok(first);
        }
        let mut operands = vec![first];
        let mut pending: Vec<Pending> = Vec::new();
        let mut links = 0;
        while let Some((op, precedence)) = self.at_binary_operator() {
            self.count_link(&mut links)?;
            reduce(&mut operands, &mut pending, precedence);
            pending.push(Pending { op, op_span: self.span(), precedence });
            self.bump();
            operands.push(self.unary_expression()?);
        }
        reduce(&mut operands, &mut pending, 0);
        operands.pop().ok_or(Failed)
    }

    /// The binary operator at the current token; not one that belongs to a fold.
    pub(super) fn at_binary_operator(&self) -> Option<(BinaryOp, u8)> {
        let TokenKind::Punct(punct) = *self.kind() else {
            return None;
        };
        let closes = self.greater_closes && matches!(punct, Punct::Greater | Punct::Shr);
        if closes || self.split > 0 || self.at_nth(1, Punct::Ellipsis) {
            return None;
        }
        binary_operator(punct)
    }

    /// Prefix operators, casts, `sizeof`.
    pub(super) fn unary_expression(&mut self) -> Parse<Expr> {
        match *self.kind() {
            TokenKind::Punct(Punct::LParen) => self.cast_or_postfix_expression(),
            TokenKind::Punct(punct) => match prefix_operator(punct) {
                Some(op) => self.nested(|p| p.prefix_expression(op)),
                None => self.postfix_expression(),
            },
            TokenKind::Keyword(Keyword::Sizeof) => self.nested(Self::sizeof),
            TokenKind::Keyword(Keyword::Alignof) => self.alignof(),
            _ => self.postfix_expression(),
        }
    }

    fn prefix_expression(&mut self, op: UnaryOp) -> Parse<Expr> {
        let op_span = self.span();
        self.bump();
        let operand = Box::new(self.unary_expression()?);
        let span = op_span.to(operand.span);
        Ok(Expr { kind: ExprKind::Unary { op, op_span, operand }, span })
    }

    /// `(T)e`, `(T){…}`, or something in parentheses.
    fn cast_or_postfix_expression(&mut self) -> Parse<Expr> {
        let start = self.span();
        let Some(ty) = self.opt_cast_type() else {
            return self.postfix_expression();
        };
        self.nested(|p| p.cast_operand(start, ty))
    }

    fn cast_operand(&mut self, start: Span, ty: TypeExpr) -> Parse<Expr> {
        let is_literal = self.at(Punct::LBrace);
        let operand = Box::new(if is_literal { self.braced_list()? } else { self.unary_expression()? });
        let span = start.to(operand.span);
        let cast = Expr { kind: ExprKind::Cast { kind: CastKind::CStyle, ty, operand }, span };
        if is_literal { self.postfix_operators(cast) } else { Ok(cast) }
    }

    /// `(T)`
    fn opt_cast_type(&mut self) -> Option<TypeExpr> {
        let may_be_type = matches!(
            self.nth(1),
            TokenKind::Ident(_) | TokenKind::Keyword(_) | TokenKind::Punct(Punct::ColonColon)
        );
        if !may_be_type {
            return None;
        }
        if let Some(ty) = self.opt_cast_to_unknown() {
            return Some(ty);
        }
        self.attempt(Attempt::CastType, |p| {
            p.bump();
            let ty = p.with_greater_closing(false, Self::type_id_strict)?;
            // Nothing can be cast to a function: `(f())` calls one, or makes a `f`.
            let is_function = matches!(ty.kind, TypeExprKind::Function { .. });
            if !is_function && p.eat(Punct::RParen) { Ok(ty) } else { Err(Failed) }
        })
    }

    /// `(unknown)x` can be nothing but a cast; the checker reports the unknown type.
    fn opt_cast_to_unknown(&mut self) -> Option<TypeExpr> {
        let TokenKind::Ident(name) = self.nth(1) else {
            return None;
        };
        let before_operand = matches!(
            self.nth(3),
            TokenKind::Ident(_) | TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Char(_)
        );
        let is_cast = self.at_nth(2, Punct::RParen) && before_operand;
        if !is_cast || self.names.lookup(self.scope, name).is_some() {
            return None;
        }
        let name = name.clone();
        self.bump();
        let span = self.span();
        self.bump();
        self.bump();
        let path = Path {
            global: false,
            is_elaborated: false,
            segments: vec![PathSegment { name, span, args: None }],
            span,
        };
        Some(TypeExpr { kind: TypeExprKind::Named(path), span })
    }

    fn postfix_expression(&mut self) -> Parse<Expr> {
        let primary = self.primary_expression()?;
        self.postfix_operators(primary)
    }

    /// Calls, indices, members, `++` and `--` behind an expression.
    pub(super) fn postfix_operators(&mut self, mut expr: Expr) -> Parse<Expr> {
        let mut links = 0;
        loop {
            let TokenKind::Punct(punct) = *self.kind() else {
                return Ok(expr);
            };
            let kind = match punct {
                Punct::LParen => {
                    let args = self.parenthesized_arguments()?;
                    ExprKind::Call { callee: Box::new(expr), args }
                }
                Punct::LBracket if !self.at_nth(1, Punct::LBracket) => self.index(expr)?,
                Punct::Dot | Punct::Arrow => self.member(expr, punct == Punct::Arrow)?,
                Punct::Increment => self.postfix_step(UnaryOp::PostIncrement, expr),
                Punct::Decrement => self.postfix_step(UnaryOp::PostDecrement, expr),
                _ => return Ok(expr),
            };
            self.count_link(&mut links)?;
            expr = Expr { span: first_span(&kind).to(self.last_span), kind };
        }
    }

    fn postfix_step(&mut self, op: UnaryOp, operand: Expr) -> ExprKind {
        let op_span = self.span();
        self.bump();
        ExprKind::Unary { op, op_span, operand: Box::new(operand) }
    }

    /// `[i]`
    fn index(&mut self, base: Expr) -> Parse<ExprKind> {
        let opening = self.span();
        self.bump();
        let index = self.nested(|p| {
            p.with_greater_closing(false, |p| if p.at(Punct::LBrace) { p.braced_list() } else { p.expression() })
        })?;
        self.expect_closing(Punct::RBracket, Punct::LBracket, opening)?;
        Ok(ExprKind::Index { base: Box::new(base), index: Box::new(index) })
    }

    /// `.b`, `->b`, `.template f<T>`
    fn member(&mut self, base: Expr, arrow: bool) -> Parse<ExprKind> {
        self.bump();
        let member = self.path(PathPlace::Member)?.path;
        Ok(ExprKind::Member { base: Box::new(base), arrow, member })
    }

    /// `sizeof(T)`, `sizeof e`, `sizeof...(p)`
    fn sizeof(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.bump();
        if self.eat(Punct::Ellipsis) {
            let opening = self.span();
            self.expect(Punct::LParen)?;
            let pack = self.identifier()?;
            self.expect_closing(Punct::RParen, Punct::LParen, opening)?;
            return Ok(Expr { kind: ExprKind::SizeOfPack(pack), span: start.to(self.last_span) });
        }
        let kind = match self.opt_operand_type() {
            Some(ty) => ExprKind::SizeOfType(ty),
            None => ExprKind::SizeOfExpr(Box::new(self.unary_expression()?)),
        };
        Ok(Expr { kind, span: start.to(self.last_span) })
    }

    fn alignof(&mut self) -> Parse<Expr> {
        let start = self.span();
        self.bump();
        let Some(ty) = self.opt_operand_type() else {
            return Err(self.fail("expected a type in parentheses"));
        };
        Ok(Expr { kind: ExprKind::AlignOf(ty), span: start.to(self.last_span) })
    }

    /// `(T)` behind `sizeof`
    pub(super) fn opt_operand_type(&mut self) -> Option<TypeExpr> {
        if !self.at(Punct::LParen) {
            return None;
        }
        self.attempt(Attempt::OperandType, |p| {
            p.bump();
            let ty = p.with_greater_closing(false, Self::type_id_strict)?;
            if p.eat(Punct::RParen) { Ok(ty) } else { Err(Failed) }
        })
    }
}

/// Joins operands as long as the operator before them binds at least as tightly as `precedence`.
fn reduce(operands: &mut Vec<Expr>, pending: &mut Vec<Pending>, precedence: u8) {
    while pending.last().is_some_and(|last| last.precedence >= precedence) {
        let (Some(last), Some(rhs), Some(lhs)) = (pending.pop(), operands.pop(), operands.pop()) else {
            return;
        };
        let span = lhs.span.to(rhs.span);
        let Pending { op, op_span, .. } = last;
        let kind = ExprKind::Binary { op, op_span, lhs: Box::new(lhs), rhs: Box::new(rhs) };
        operands.push(Expr { kind, span });
    }
}

/// Start of a postfix expression.
fn first_span(kind: &ExprKind) -> Span {
    match kind {
        ExprKind::Call { callee: first, .. }
        | ExprKind::Index { base: first, .. }
        | ExprKind::Member { base: first, .. }
        | ExprKind::Unary { operand: first, .. } => first.span,
        _ => Span::default(),
    }
}
