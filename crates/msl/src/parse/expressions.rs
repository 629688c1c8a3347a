//! Expressions: operators, calls, casts.

use super::ast::{BinaryOp, CastKind, Expr, ExprKind, Path, PathSegment, TypeExpr, TypeExprKind, UnaryOp};
use super::operators::{assignment_operator, binary_operator, prefix_operator};
use super::paths::PathPlace;
use super::{Attempt, Failed, Parse, Parser};
use crate::diagnostics::Diagnostic;
use crate::lex::token::{Keyword, Punct, TokenKind};
use crate::source::Span;

/// An operator that waits for its right operand.
struct Pending {
    op: BinaryOp,
    op_span: Span,
    precedence: u8,
}

/// An operand, with its height.
struct Operand {
    expr: Expr,
    height: u32,
}

impl Parser {
    /// `a, b`
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let level = self.enter();
        let mut left = self.assignment_expression()?;
        while self.at(Punct::Comma) && !self.at_nth(1, Punct::Ellipsis) {
            self.bump();
            let right = self.assignment_expression()?;
            self.link(level)?;
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
        }
        self.leave(level);
        Ok(left)
    }

    /// `a = b`, `a += b`, or anything that binds tighter.
    pub(super) fn assignment_expression(&mut self) -> Parse<Expr> {
        let first = self.conditional_expression()?;
        self.assignments(first)
    }

    /// `= b = c` behind an expression: a loop, as such a chain is no nesting.
    fn assignments(&mut self, first: Expr) -> Parse<Expr> {
        if self.at_assignment_operator().is_none() {
            return Ok(first);
        }
        self.chain(|p| {
            let (mut targets, mut last) = (Vec::new(), first);
            while let Some(op) = p.at_assignment_operator() {
                p.descend()?;
                targets.push((last, op, p.span()));
                p.bump();
                if p.at(Punct::LBrace) {
                    last = p.nested(Self::braced_list)?;
                    break;
                }
                last = p.conditional_expression()?;
            }
            while let Some((lhs, op, op_span)) = targets.pop() {
                let span = lhs.span.to(last.span);
                let kind = ExprKind::Assign { op, op_span, lhs: Box::new(lhs), rhs: Box::new(last) };
                last = Expr { kind, span };
            }
            Ok(last)
        })
    }

    /// The operator of an assignment: the inner option is that of `a += b`.
    fn at_assignment_operator(&self) -> Option<Option<BinaryOp>> {
        match *self.kind() {
            TokenKind::Punct(Punct::ShrAssign) if self.greater_closes => None,
            TokenKind::Punct(punct) => assignment_operator(punct),
            _ => None,
        }
    }

    /// `c ? a : b`
    pub(super) fn conditional_expression(&mut self) -> Parse<Expr> {
        let condition = self.binary_expression()?;
        match self.at(Punct::Question) {
            true => self.chain(|p| p.conditional_chain(condition)),
            false => Ok(condition),
        }
    }

    /// `? a : c ? b : d` behind a condition: a loop, as such a chain is no nesting.
    fn conditional_chain(&mut self, mut condition: Expr) -> Parse<Expr> {
        let mut branches = Vec::new();
        let mut otherwise = loop {
            self.descend()?;
            let question = self.span();
            self.bump();
            if self.eat(Punct::Colon) {
                let otherwise = self.nested(Self::assignment_expression)?;
                break self.value_or(condition, otherwise);
            }
            let then = self.nested(Self::expression)?;
            if !self.eat(Punct::Colon) {
                let error =
                    Diagnostic::error("syntax", self.span(), "expected ':'").note(question, "to match this '?'");
                self.report(error);
                return Err(Failed);
            }
            branches.push((condition, then));
            let next = self.binary_expression()?;
            if !self.at(Punct::Question) {
                break self.assignments(next)?;
            }
            condition = next;
        };
        while let Some((condition, then)) = branches.pop() {
            let span = condition.span.to(otherwise.span);
            let [condition, then, last] = [condition, then, otherwise].map(Box::new);
            otherwise = Expr { kind: ExprKind::Conditional { condition, then, otherwise: last }, span };
        }
        Ok(otherwise)
    }

    /// Binary operators by precedence, with a stack of our own: recursion per level would cost ten frames for each
    /// pair of parentheses.
    fn binary_expression(&mut self) -> Parse<Expr> {
        let level = self.enter();
        let first = self.operand()?;
        if self.at_binary_operator().is_none() {
            self.leave(level);
            return Ok(first.expr);
        }
        let mut operands = vec![first];
        let mut pending: Vec<Pending> = Vec::new();
        while let Some((op, precedence)) = self.at_binary_operator() {
            self.reduce(&mut operands, &mut pending, precedence)?;
            pending.push(Pending { op, op_span: self.span(), precedence });
            self.bump();
            operands.push(self.operand()?);
        }
        self.reduce(&mut operands, &mut pending, 0)?;
        self.leave(level);
        operands.pop().map(|all| all.expr).ok_or(Failed)
    }

    fn operand(&mut self) -> Parse<Operand> {
        let level = self.enter();
        let mut expr = self.unary_expression()?;
        // `.*` and `->*` bind tighter than all other binary operators.
        while let TokenKind::Punct(punct @ (Punct::Dot | Punct::Arrow)) = *self.kind() {
            let start = self.span();
            self.bump();
            let op_span = start.to(self.span());
            self.expect(Punct::Star)?;
            let member = Box::new(self.unary_expression()?);
            self.link(level)?;
            let span = expr.span.to(member.span);
            let (base, arrow) = (Box::new(expr), punct == Punct::Arrow);
            expr = Expr { kind: ExprKind::MemberPointer { base, arrow, op_span, member }, span };
        }
        Ok(Operand { expr, height: self.leave(level) })
    }

    /// Applies the operators that bind as tightly as `precedence`.
    fn reduce(&mut self, operands: &mut Vec<Operand>, pending: &mut Vec<Pending>, precedence: u8) -> Parse<()> {
        while let Some(Pending { op, op_span, .. }) = pending.pop_if(|last| last.precedence >= precedence) {
            let (Some(rhs), Some(lhs)) = (operands.pop(), operands.pop()) else { return Err(Failed) };
            let height = lhs.height.max(rhs.height) + 1;
            self.raise(height)?;
            let span = lhs.expr.span.to(rhs.expr.span);
            let (lhs, rhs) = (Box::new(lhs.expr), Box::new(rhs.expr));
            operands
                .push(Operand { expr: Expr { kind: ExprKind::Binary { op, op_span, lhs, rhs }, span }, height });
        }
        Ok(())
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
        let level = self.enter();
        let primary = self.primary_expression()?;
        let expr = self.postfix_operators(primary)?;
        self.leave(level);
        Ok(expr)
    }

    /// Calls, indices, members, `++` and `--` behind an expression.
    pub(super) fn postfix_operators(&mut self, mut expr: Expr) -> Parse<Expr> {
        let level = self.enter_again();
        while let TokenKind::Punct(punct) = *self.kind() {
            let kind = match punct {
                Punct::LParen => {
                    let args = self.parenthesized_arguments()?;
                    ExprKind::Call { callee: Box::new(expr), args }
                }
                Punct::LBracket if !self.at_nth(1, Punct::LBracket) => self.index(expr)?,
                Punct::Dot | Punct::Arrow if self.at_nth(1, Punct::Star) => break,
                Punct::Dot | Punct::Arrow => self.member(expr, punct == Punct::Arrow)?,
                Punct::Increment => self.postfix_step(UnaryOp::PostIncrement, expr),
                Punct::Decrement => self.postfix_step(UnaryOp::PostDecrement, expr),
                _ => break,
            };
            self.link(level)?;
            expr = Expr { span: first_span(&kind).to(self.last_span), kind };
        }
        self.leave(level);
        Ok(expr)
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
