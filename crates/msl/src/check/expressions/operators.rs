//! Operators: on numbers, vectors, matrices, pointers, and those that classes define.

use crate::check::Checker;
use crate::check::state::Diagnostics;
use crate::check::tables::Tables;
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, BinaryOp, UnaryOp};
use crate::program::{self, Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    pub(super) fn check_unary(&mut self, op: UnaryOp, operand: &'a ast::Expr, op_span: Span, span: Span) -> Expr {
        let operand = self.check_expr(operand);
        if operand.ty.ty.is_unknown() {
            let is_place = matches!(op, UnaryOp::Deref | UnaryOp::PreIncrement | UnaryOp::PreDecrement);
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(operand.ty.ty), is_place, span };
        }
        if let Some(result) = self.uniform_unary(op, &operand, op_span, span) {
            return result;
        }
        if self.tables.is_overloadable(operand.ty.ty) {
            let name = format!("operator{}", op.text());
            let mut args = vec![operand.clone()];
            if matches!(op, UnaryOp::PostIncrement | UnaryOp::PostDecrement) {
                args.push(Expr::constant(Value::Int(0), Ty::INT, span));
            }
            if let Some(result) = self.call_operator(&name, args, op_span, span) {
                return result;
            }
        }
        match op {
            UnaryOp::Plus | UnaryOp::Minus | UnaryOp::BitNot => self.arithmetic_unary(op, operand, op_span, span),
            UnaryOp::Not => self.logical_not(operand, span),
            UnaryOp::Deref => self.check_deref(operand, op_span, span),
            UnaryOp::AddressOf => unreachable!("handled with the operand"),
            UnaryOp::PreIncrement | UnaryOp::PreDecrement | UnaryOp::PostIncrement | UnaryOp::PostDecrement => {
                self.increment(op, operand, op_span, span)
            }
        }
    }

    pub(super) fn arithmetic_unary(&mut self, op: UnaryOp, operand: Expr, op_span: Span, span: Span) -> Expr {
        let value = self.load(operand);
        let value = self.scalar_from_class(value);
        let plain = self.tables.types_mut().unpacked(value.ty.ty);
        let value = self.tables.convert_value(value, plain);
        let element = self.tables.types().element_of(value.ty.ty);
        let is_number = self.tables.is_number(element);
        let is_matrix = matches!(self.tables.types().kind(value.ty.ty), TyKind::Matrix { .. });
        let allowed = match op {
            UnaryOp::BitNot => self.tables.types().float_kind(element).is_none() && is_number,
            _ => is_number || is_matrix,
        };
        if !allowed {
            let message =
                format!("invalid argument type '{}' to unary expression", self.tables.name_of(value.ty.ty));
            self.diagnostics.error("invalid-operand", op_span, message);
            return Expr::error(span);
        }
        let is_scalar = self.tables.types().vector_parts(value.ty.ty).is_none() && !is_matrix;
        let operand_ty = self.tables.operand_type(&value);
        let ty = if is_scalar { self.tables.promoted(operand_ty) } else { value.ty.ty };
        let value = self.tables.convert_value(value, ty);
        let op = match op {
            UnaryOp::Plus => return Expr { span, ..value },
            UnaryOp::Minus => program::UnaryOp::Negate,
            _ => program::UnaryOp::BitNot,
        };
        // `-1` is a literal like any other.
        if let (program::UnaryOp::Negate, ExprKind::Constant(Value::Int(number))) = (op, &value.kind)
            && let Some(kind) = self.tables.types().int_kind(ty)
        {
            return Expr::constant(Value::Int(kind.wrap(-number)), ty, span);
        }
        if let (program::UnaryOp::Negate, ExprKind::Constant(Value::Float(number))) = (op, &value.kind) {
            return Expr::constant(Value::Float(-number), ty, span);
        }
        Expr::value(ExprKind::Unary { op, operand: Box::new(value) }, ty, span)
    }

    pub(super) fn logical_not(&mut self, operand: Expr, span: Span) -> Expr {
        if let Some((element, len)) = self.tables.types().vector_parts(operand.ty.ty) {
            let value = self.load(operand);
            let result = self.tables.types_mut().vector(Ty::BOOL, len);
            let value = if element == Ty::BOOL { value } else { self.tables.convert_value(value, result) };
            return Expr::value(
                ExprKind::Unary { op: program::UnaryOp::Not, operand: Box::new(value) },
                result,
                span,
            );
        }
        let value = self.as_bool(operand);
        Expr::value(ExprKind::Unary { op: program::UnaryOp::Not, operand: Box::new(value) }, Ty::BOOL, span)
    }

    pub(in crate::check) fn check_deref(&mut self, operand: Expr, op_span: Span, span: Span) -> Expr {
        let pointer = self.load(operand);
        match self.tables.types().pointee(pointer.ty.ty) {
            Some(pointee) if pointee.ty == Ty::VOID => {
                self.diagnostics.error(
                    "deref",
                    op_span,
                    "ISO C++ does not allow indirection on operand of type 'void *'",
                );
                Expr::error(span)
            }
            Some(pointee) => {
                self.complete_type(pointee.ty);
                self.tables.deref(pointer, span)
            }
            None => {
                let message = format!(
                    "indirection requires pointer operand ('{}' invalid)",
                    self.tables.name_of(pointer.ty.ty)
                );
                self.diagnostics.error("deref", op_span, message);
                Expr::error(span)
            }
        }
    }

    pub(super) fn check_binary(
        &mut self,
        op: BinaryOp,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        // Long chains of operators lean to the left: walk them without recursion.
        let mut chain = vec![(op, rhs, op_span, span)];
        let mut first = lhs;
        self.warn_about_precedence(op, lhs, rhs, op_span);
        while let ast::ExprKind::Binary { op, op_span, lhs, rhs } = &first.kind {
            self.warn_about_precedence(*op, lhs, rhs, *op_span);
            chain.push((*op, rhs, *op_span, first.span));
            first = lhs;
        }
        let mut result = self.check_expr(first);
        while let Some((op, rhs, op_span, span)) = chain.pop() {
            let rhs = self.check_expr(rhs);
            result = self.binary(op, result, rhs, op_span, span);
        }
        result
    }

    pub(in crate::check) fn binary(
        &mut self,
        op: BinaryOp,
        lhs: Expr,
        rhs: Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        if lhs.ty.ty.is_unknown() || rhs.ty.ty.is_unknown() {
            let ty = if lhs.ty.ty == Ty::ERROR || rhs.ty.ty == Ty::ERROR { Ty::ERROR } else { Ty::DEPENDENT };
            let logical = matches!(op, BinaryOp::And | BinaryOp::Or) && ty == Ty::DEPENDENT;
            return Expr::value(ExprKind::Error, if logical { Ty::DEPENDENT } else { ty }, span);
        }
        if let Some(result) = self.uniform_binary(op, &lhs, &rhs, op_span, span) {
            return result;
        }
        if self.tables.is_overloadable(lhs.ty.ty) || self.tables.is_overloadable(rhs.ty.ty) {
            let name = format!("operator{}", op.text());
            if let Some(result) = self.call_operator(&name, vec![lhs.clone(), rhs.clone()], op_span, span) {
                return result;
            }
        }
        match op {
            BinaryOp::And | BinaryOp::Or => self.logical(op, lhs, rhs, span),
            _ => {
                let (lhs, rhs) = (self.load(lhs), self.load(rhs));
                let (lhs, rhs) = (self.scalar_from_class(lhs), self.scalar_from_class(rhs));
                self.binary_values(op, lhs, rhs, op_span, span)
            }
        }
    }

    fn logical(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let shape = self.tables.types().vector_parts(lhs.ty.ty).or(self.tables.types().vector_parts(rhs.ty.ty));
        if let Some((_, len)) = shape {
            let result = self.tables.types_mut().vector(Ty::BOOL, len);
            let (lhs, rhs) = (self.load(lhs), self.load(rhs));
            let lhs = self.tables.convert_value(lhs, result);
            let rhs = self.tables.convert_value(rhs, result);
            return Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, result, span);
        }
        let (lhs, rhs) = (self.as_bool(lhs), self.as_bool(rhs));
        let kind = ExprKind::ShortCircuit { is_or: op == BinaryOp::Or, lhs: Box::new(lhs), rhs: Box::new(rhs) };
        Expr::value(kind, Ty::BOOL, span)
    }

    fn binary_values(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, op_span: Span, span: Span) -> Expr {
        if let Some(result) = self.pointer_arithmetic(op, &lhs, &rhs, op_span, span) {
            return result;
        }
        if let Some(result) = self.compare_member_pointers(op, &lhs, &rhs, span) {
            return result;
        }
        let is_matrix = |this: &Self, ty: Ty| matches!(this.tables.types().kind(ty), TyKind::Matrix { .. });
        if is_matrix(self, lhs.ty.ty) || is_matrix(self, rhs.ty.ty) {
            return self.matrix_arithmetic(op, lhs, rhs, op_span, span);
        }
        // Scoped enums compare with themselves alone.
        if lhs.ty.ty == rhs.ty.ty && self.tables.types().enum_id(lhs.ty.ty).is_some() && op.is_comparison() {
            return Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, Ty::BOOL, span);
        }
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let (left, right) = (self.tables.operand_type(&lhs), self.tables.operand_type(&rhs));
        let Some((operand_ty, right_ty)) = self.tables.operand_types(op, left, right) else {
            invalid_operands(&self.tables, &mut self.diagnostics, &lhs, &rhs, op_span);
            return Expr::error(span);
        };
        let element = self.tables.types().element_of(operand_ty);
        let needs_integer =
            shift || matches!(op, BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        if needs_integer && self.tables.types().float_kind(element).is_some() {
            invalid_operands(&self.tables, &mut self.diagnostics, &lhs, &rhs, op_span);
            return Expr::error(span);
        }
        warn_sign_compare(&self.tables, &mut self.diagnostics, op, &lhs, &rhs, operand_ty, op_span);
        let result = if op.is_comparison() {
            let len = self.tables.types().vector_parts(operand_ty).map_or(1, |(_, len)| len);
            self.tables.types_mut().vector(Ty::BOOL, len)
        } else {
            operand_ty
        };
        let lhs = self.tables.convert_value(lhs, operand_ty);
        let rhs = self.tables.convert_value(rhs, right_ty);
        Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, result, span)
    }
}

impl<'a> Tables<'a> {
    /// The types in which an operator computes; those of the operands differ only for shifts.
    pub(super) fn operand_types(&mut self, op: BinaryOp, lhs: Ty, rhs: Ty) -> Option<(Ty, Ty)> {
        let (lhs, rhs) = (self.types_mut().unpacked(lhs), self.types_mut().unpacked(rhs));
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let (left, right) = (self.types().vector_parts(lhs), self.types().vector_parts(rhs));
        match (left, right) {
            (Some(_), Some(_)) if lhs == rhs => Some((lhs, rhs)),
            (Some((a, m)), Some((b, n))) if shift && m == n => {
                let integers = self.types().int_kind(a).is_some() && self.types().int_kind(b).is_some();
                // Each component is shifted by its own count, in the type of the left.
                integers.then_some((lhs, lhs))
            }
            (Some(_), Some(_)) => None,
            (Some((element, _)), None) => self.spreads(rhs, element).then_some((lhs, lhs)),
            (None, Some((element, _))) => (!shift && self.spreads(lhs, element)).then_some((rhs, rhs)),
            (None, None) => {
                let numbers = self.is_number(lhs) && self.is_number(rhs);
                if !numbers {
                    return None;
                }
                if shift {
                    return Some((self.promoted(lhs), self.promoted(rhs)));
                }
                let common = self.common_number(lhs, rhs)?;
                Some((common, common))
            }
        }
    }

    /// True if an operator may combine a scalar with a vector of `element`: integers with any, floating point only with
    /// floating point.
    fn spreads(&self, scalar: Ty, element: Ty) -> bool {
        if !self.is_number(scalar) {
            return false;
        }
        match (self.types().float_kind(scalar), self.types().float_kind(element)) {
            (Some(a), Some(b)) => !matches!(
                (a, b),
                (crate::types::FloatKind::Half, crate::types::FloatKind::BFloat)
                    | (crate::types::FloatKind::BFloat, crate::types::FloatKind::Half)
            ),
            (Some(_), None) => false,
            (None, _) => true,
        }
    }
}

fn warn_sign_compare(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    op: BinaryOp,
    lhs: &Expr,
    rhs: &Expr,
    common: Ty,
    op_span: Span,
) {
    if !op.is_comparison() || !diagnostics.shows_warnings() {
        return;
    }
    let unsigned = tables.types().int_kind(common).is_some_and(|kind| !kind.is_signed());
    let signed_variable = |expr: &Expr| {
        tables.types().int_kind(expr.ty.ty).is_some_and(|kind| kind.is_signed() && kind.bits() >= 32)
            && !matches!(expr.kind, ExprKind::Constant(_))
    };
    if unsigned && (signed_variable(lhs) || signed_variable(rhs)) {
        let message = format!(
            "comparison of integers of different signs: '{}' and '{}'",
            tables.name_of(lhs.ty.ty),
            tables.name_of(rhs.ty.ty)
        );
        diagnostics.warn("sign-compare", op_span, message);
    }
}

pub(in crate::check) fn invalid_operands(
    tables: &Tables<'_>,
    diagnostics: &mut Diagnostics,
    lhs: &Expr,
    rhs: &Expr,
    op_span: Span,
) {
    let message = format!(
        "invalid operands to binary expression ('{}' and '{}')",
        tables.name_of(lhs.ty.ty),
        tables.name_of(rhs.ty.ty)
    );
    let diagnostic = Diagnostic::error("invalid-operands", op_span, message);
    diagnostics.report(diagnostic.range(lhs.span).range(rhs.span));
}
