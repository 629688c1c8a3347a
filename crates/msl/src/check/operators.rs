//! Operators: on numbers, vectors, matrices, pointers, and those that classes define.

use super::convert::Purpose;
use super::expressions::{FunctionSet, Operand};
use super::scope::Symbol;
use super::{Checker, EntityId};
use crate::diagnostics::Diagnostic;
use crate::parse::ast::{self, BinaryOp, UnaryOp};
use crate::program::{self, Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn check_unary(&mut self, op: UnaryOp, operand: &'a ast::Expr, op_span: Span, span: Span) -> Expr {
        let operand = self.check_expr(operand);
        if operand.ty.ty.is_unknown() {
            let is_place = matches!(op, UnaryOp::Deref | UnaryOp::PreIncrement | UnaryOp::PreDecrement);
            return Expr { kind: ExprKind::Error, ty: QualTy::plain(operand.ty.ty), is_place, span };
        }
        if self.is_overloadable(operand.ty.ty) {
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

    fn arithmetic_unary(&mut self, op: UnaryOp, operand: Expr, op_span: Span, span: Span) -> Expr {
        let value = self.load(operand);
        let value = self.scalar_from_class(value);
        let plain = self.types_mut().unpacked(value.ty.ty);
        let value = self.convert_value(value, plain);
        let element = self.types().element_of(value.ty.ty);
        let is_number = self.types().is_arithmetic(element) || self.is_integral_or_unscoped(element);
        let is_matrix = matches!(self.types().kind(value.ty.ty), TyKind::Matrix { .. });
        let allowed = match op {
            UnaryOp::BitNot => self.types().float_kind(element).is_none() && is_number,
            _ => is_number || is_matrix,
        };
        if !allowed {
            let message = format!("invalid argument type '{}' to unary expression", self.name_of(value.ty.ty));
            self.error("invalid-operand", op_span, message);
            return Expr::error(span);
        }
        let is_scalar = self.types().vector_parts(value.ty.ty).is_none() && !is_matrix;
        let ty = if is_scalar { self.promoted(value.ty.ty) } else { value.ty.ty };
        let value = self.convert_value(value, ty);
        let op = match op {
            UnaryOp::Plus => return Expr { span, ..value },
            UnaryOp::Minus => program::UnaryOp::Negate,
            _ => program::UnaryOp::BitNot,
        };
        // `-1` is a literal like any other.
        if let (program::UnaryOp::Negate, ExprKind::Constant(Value::Int(number))) = (op, &value.kind)
            && let Some(kind) = self.types().int_kind(ty)
        {
            return Expr::constant(Value::Int(kind.wrap(-number)), ty, span);
        }
        if let (program::UnaryOp::Negate, ExprKind::Constant(Value::Float(number))) = (op, &value.kind) {
            return Expr::constant(Value::Float(-number), ty, span);
        }
        Expr::value(ExprKind::Unary { op, operand: Box::new(value) }, ty, span)
    }

    fn logical_not(&mut self, operand: Expr, span: Span) -> Expr {
        if let Some((element, len)) = self.types().vector_parts(operand.ty.ty) {
            let value = self.load(operand);
            let result = self.types_mut().vector(Ty::BOOL, len);
            let value = if element == Ty::BOOL { value } else { self.convert_value(value, result) };
            return Expr::value(
                ExprKind::Unary { op: program::UnaryOp::Not, operand: Box::new(value) },
                result,
                span,
            );
        }
        let value = self.as_bool(operand);
        Expr::value(ExprKind::Unary { op: program::UnaryOp::Not, operand: Box::new(value) }, Ty::BOOL, span)
    }

    fn check_deref(&mut self, operand: Expr, op_span: Span, span: Span) -> Expr {
        let pointer = self.load(operand);
        match self.types().pointee(pointer.ty.ty) {
            Some(pointee) if pointee.ty == Ty::VOID => {
                self.error("deref", op_span, "ISO C++ does not allow indirection on operand of type 'void *'");
                Expr::error(span)
            }
            Some(pointee) => {
                self.complete_type(pointee.ty);
                self.deref(pointer, span)
            }
            None => {
                let message =
                    format!("indirection requires pointer operand ('{}' invalid)", self.name_of(pointer.ty.ty));
                self.error("deref", op_span, message);
                Expr::error(span)
            }
        }
    }

    fn increment(&mut self, op: UnaryOp, operand: Expr, op_span: Span, span: Span) -> Expr {
        if !self.check_assignable(&operand, op_span) {
            return Expr::error(span);
        }
        let ty = operand.ty.ty;
        let element = self.types().element_of(ty);
        let allowed =
            (self.types().is_arithmetic(element) && element != Ty::BOOL) || self.types().pointee(ty).is_some();
        if !allowed {
            let message = format!("cannot increment value of type '{}'", self.name_of(ty));
            self.error("invalid-operand", op_span, message);
            return Expr::error(span);
        }
        let is_prefix = matches!(op, UnaryOp::PreIncrement | UnaryOp::PreDecrement);
        let is_decrement = matches!(op, UnaryOp::PreDecrement | UnaryOp::PostDecrement);
        let quals = operand.ty;
        let kind = ExprKind::Increment { place: Box::new(operand), is_decrement, is_prefix };
        match is_prefix {
            true => Expr::place(kind, quals, span),
            false => Expr::value(kind, ty, span),
        }
    }

    // --- binary ------------------------------------------------------------------------------------------------

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
        while let ast::ExprKind::Binary { op, op_span, lhs, rhs } = &first.kind {
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

    pub(super) fn binary(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, op_span: Span, span: Span) -> Expr {
        if lhs.ty.ty.is_unknown() || rhs.ty.ty.is_unknown() {
            let ty = if lhs.ty.ty == Ty::ERROR || rhs.ty.ty == Ty::ERROR { Ty::ERROR } else { Ty::DEPENDENT };
            let logical = matches!(op, BinaryOp::And | BinaryOp::Or) && ty == Ty::DEPENDENT;
            return Expr::value(ExprKind::Error, if logical { Ty::DEPENDENT } else { ty }, span);
        }
        if self.is_overloadable(lhs.ty.ty) || self.is_overloadable(rhs.ty.ty) {
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
        let shape = self.types().vector_parts(lhs.ty.ty).or(self.types().vector_parts(rhs.ty.ty));
        if let Some((_, len)) = shape {
            let result = self.types_mut().vector(Ty::BOOL, len);
            let (lhs, rhs) = (self.load(lhs), self.load(rhs));
            let lhs = self.convert_value(lhs, result);
            let rhs = self.convert_value(rhs, result);
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
        let is_matrix = |this: &Self, ty: Ty| matches!(this.types().kind(ty), TyKind::Matrix { .. });
        if is_matrix(self, lhs.ty.ty) || is_matrix(self, rhs.ty.ty) {
            return self.matrix_arithmetic(op, lhs, rhs, op_span, span);
        }
        // Scoped enums compare with themselves alone.
        if lhs.ty.ty == rhs.ty.ty && self.types().enum_id(lhs.ty.ty).is_some() && op.is_comparison() {
            return Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, Ty::BOOL, span);
        }
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let Some((operand_ty, right_ty)) = self.operand_types(op, lhs.ty.ty, rhs.ty.ty) else {
            self.invalid_operands(&lhs, &rhs, op_span);
            return Expr::error(span);
        };
        let element = self.types().element_of(operand_ty);
        let needs_integer =
            shift || matches!(op, BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        if needs_integer && self.types().float_kind(element).is_some() {
            self.invalid_operands(&lhs, &rhs, op_span);
            return Expr::error(span);
        }
        self.warn_sign_compare(op, &lhs, &rhs, operand_ty, op_span);
        let result = if op.is_comparison() {
            let len = self.types().vector_parts(operand_ty).map_or(1, |(_, len)| len);
            self.types_mut().vector(Ty::BOOL, len)
        } else {
            operand_ty
        };
        let lhs = self.convert_value(lhs, operand_ty);
        let rhs = self.convert_value(rhs, right_ty);
        Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, result, span)
    }

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
                let numbers = self.is_number_like(lhs) && self.is_number_like(rhs);
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

    fn is_number_like(&self, ty: Ty) -> bool {
        self.types().is_arithmetic(ty) || self.is_integral_or_unscoped(ty)
    }

    /// A scalar may stand beside a vector of `element`: integers fit anything, floating point only floating point.
    fn spreads(&self, scalar: Ty, element: Ty) -> bool {
        if !self.is_number_like(scalar) {
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

    fn warn_sign_compare(&mut self, op: BinaryOp, lhs: &Expr, rhs: &Expr, common: Ty, op_span: Span) {
        if !op.is_comparison() || !self.options.warnings {
            return;
        }
        let unsigned = self.types().int_kind(common).is_some_and(|kind| !kind.is_signed());
        let signed_variable = |this: &Self, expr: &Expr| {
            this.types().int_kind(expr.ty.ty).is_some_and(|kind| kind.is_signed() && kind.bits() >= 32)
                && !matches!(expr.kind, ExprKind::Constant(_))
        };
        if unsigned && (signed_variable(self, lhs) || signed_variable(self, rhs)) {
            let message = format!(
                "comparison of integers of different signs: '{}' and '{}'",
                self.name_of(lhs.ty.ty),
                self.name_of(rhs.ty.ty)
            );
            self.warn("sign-compare", op_span, message);
        }
    }

    fn invalid_operands(&mut self, lhs: &Expr, rhs: &Expr, op_span: Span) {
        let message = format!(
            "invalid operands to binary expression ('{}' and '{}')",
            self.name_of(lhs.ty.ty),
            self.name_of(rhs.ty.ty)
        );
        let diagnostic = Diagnostic::error("invalid-operands", op_span, message);
        self.report(diagnostic.range(lhs.span).range(rhs.span));
    }

    fn pointer_arithmetic(
        &mut self,
        op: BinaryOp,
        lhs: &Expr,
        rhs: &Expr,
        op_span: Span,
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (self.types().pointee(lhs.ty.ty), self.types().pointee(rhs.ty.ty));
        let null = |expr: &Expr| matches!(expr.kind, ExprKind::Constant(Value::Null | Value::Int(0)));
        match (left, right) {
            (None, None) => {
                let both_null = lhs.ty.ty == Ty::NULLPTR && rhs.ty.ty == Ty::NULLPTR;
                (both_null && op.is_comparison())
                    .then(|| Expr::constant(Value::Bool(op == BinaryOp::Equal), Ty::BOOL, span))
            }
            (Some(pointee), None) if op.is_comparison() && null(rhs) => {
                let _ = pointee;
                let rhs = self.convert_value(rhs.clone(), lhs.ty.ty);
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs.clone()), rhs: Box::new(rhs) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            (None, Some(_)) if op.is_comparison() && null(lhs) => {
                let lhs = self.convert_value(lhs.clone(), rhs.ty.ty);
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs.clone()) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            (Some(pointee), None) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                if !self.is_integral_or_unscoped(rhs.ty.ty) {
                    self.invalid_operands(lhs, rhs, op_span);
                    return Some(Expr::error(span));
                }
                Some(self.pointer_add(lhs.clone(), pointee, rhs.clone(), op == BinaryOp::Sub, span))
            }
            (None, Some(pointee)) if op == BinaryOp::Add && self.is_integral_or_unscoped(lhs.ty.ty) => {
                Some(self.pointer_add(rhs.clone(), pointee, lhs.clone(), false, span))
            }
            (Some(a), Some(b)) if op == BinaryOp::Sub && a.ty == b.ty && a.space == b.space => {
                let kind = ExprKind::PointerDifference { lhs: Box::new(lhs.clone()), rhs: Box::new(rhs.clone()) };
                Some(Expr::value(kind, Ty::LONG, span))
            }
            (Some(a), Some(b)) if op.is_comparison() && a.space == b.space => {
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs.clone()), rhs: Box::new(rhs.clone()) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            _ => {
                self.invalid_operands(lhs, rhs, op_span);
                Some(Expr::error(span))
            }
        }
    }

    pub(super) fn pointer_add(
        &mut self,
        pointer: Expr,
        pointee: QualTy,
        offset: Expr,
        negative: bool,
        span: Span,
    ) -> Expr {
        self.complete_type(pointee.ty);
        if pointee.ty == Ty::VOID
            || (self.types().layout(pointee.ty).is_none() && !self.is_dependent_type(pointee.ty))
        {
            let message = format!("arithmetic on a pointer to an incomplete type '{}'", self.name_of(pointee.ty));
            self.error("incomplete", span, message);
            return Expr::error(span);
        }
        let offset = self.index_value(offset);
        let ty = pointer.ty.ty;
        let kind = ExprKind::PointerAdd { pointer: Box::new(pointer), offset: Box::new(offset), negative };
        Expr::value(kind, ty, span)
    }

    /// An index in 64 bits, with the sign of its type.
    pub(super) fn index_value(&mut self, index: Expr) -> Expr {
        let promoted = self.promoted(index.ty.ty);
        let signed = self.types().int_kind(promoted).is_none_or(|kind| kind.is_signed());
        self.convert_value(index, if signed { Ty::LONG } else { Ty::ULONG })
    }

    fn matrix_arithmetic(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, op_span: Span, span: Span) -> Expr {
        let shape = |this: &Self, ty: Ty| match *this.types().kind(ty) {
            TyKind::Matrix { element, columns, rows } => Some((element, columns, rows)),
            _ => None,
        };
        let (left, right) = (shape(self, lhs.ty.ty), shape(self, rhs.ty.ty));
        let result = match (op, left, right) {
            (BinaryOp::Add | BinaryOp::Sub, Some(a), Some(b)) if a == b => {
                let ty = lhs.ty.ty;
                return Expr::value(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty, span);
            }
            (BinaryOp::Equal | BinaryOp::NotEqual, Some(a), Some(b)) if a == b => {
                return Expr::value(
                    ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) },
                    Ty::BOOL,
                    span,
                );
            }
            (BinaryOp::Mul, Some((element, k, rows)), Some((other, columns, inner)))
                if element == other && k == inner =>
            {
                Some(self.types_mut().intern(TyKind::Matrix { element, columns, rows }))
            }
            (BinaryOp::Mul, Some((element, columns, rows)), None) => match self.types().vector_parts(rhs.ty.ty) {
                Some((other, len)) if other == element && len == columns => {
                    Some(self.types_mut().vector(element, rows))
                }
                Some(_) => None,
                None if self.is_number_like(rhs.ty.ty) => return self.matrix_scale(lhs, rhs, element, op, span),
                None => None,
            },
            (BinaryOp::Div, Some((element, ..)), None) if self.is_number_like(rhs.ty.ty) => {
                return self.matrix_scale(lhs, rhs, element, op, span);
            }
            (BinaryOp::Mul, None, Some((element, columns, rows))) => match self.types().vector_parts(lhs.ty.ty) {
                Some((other, len)) if other == element && len == rows => {
                    Some(self.types_mut().vector(element, columns))
                }
                Some(_) => None,
                None if self.is_number_like(lhs.ty.ty) => return self.matrix_scale(rhs, lhs, element, op, span),
                None => None,
            },
            _ => None,
        };
        match result {
            Some(ty) => Expr::value(ExprKind::MatrixProduct { lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty, span),
            None => {
                self.invalid_operands(&lhs, &rhs, op_span);
                Expr::error(span)
            }
        }
    }

    /// A matrix times or over a scalar: every component, so the scalar becomes a matrix filled with itself.
    fn matrix_scale(&mut self, matrix: Expr, scalar: Expr, element: Ty, op: BinaryOp, span: Span) -> Expr {
        let TyKind::Matrix { columns, rows, .. } = *self.types().kind(matrix.ty.ty) else {
            return Expr::error(span);
        };
        let ty = matrix.ty.ty;
        let scalar = self.convert(scalar, QualTy::plain(element), Purpose::Element);
        let column_ty = self.types_mut().vector(element, rows);
        let column = Expr::value(ExprKind::Splat(Box::new(scalar)), column_ty, span);
        let filled = Expr::value(ExprKind::Compose(vec![column; usize::from(columns)]), ty, span);
        Expr::value(ExprKind::Binary { op, lhs: Box::new(matrix), rhs: Box::new(filled) }, ty, span)
    }

    // --- assignment --------------------------------------------------------------------------------------------

    pub(super) fn check_assign(
        &mut self,
        op: Option<BinaryOp>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        let place = self.check_expr(lhs);
        if let ast::ExprKind::InitList(items) = &rhs.kind {
            let ty = QualTy::plain(place.ty.ty);
            let value = self.list_initialize_items(ty, items, rhs.span);
            return self.assign(place, value, op_span, span);
        }
        let value = self.check_for_type(rhs, QualTy::plain(place.ty.ty));
        if place.ty.ty.is_unknown() || value.ty.ty.is_unknown() {
            if place.ty.ty != Ty::ERROR {
                self.check_assignable(&place, op_span);
            }
            return Expr { kind: ExprKind::Error, ty: place.ty, is_place: true, span };
        }
        if self.is_overloadable(place.ty.ty) || (op.is_some() && self.is_overloadable(value.ty.ty)) {
            let name = format!("operator{}=", op.map_or("", BinaryOp::text));
            if let Some(result) = self.call_operator(&name, vec![place.clone(), value.clone()], op_span, span) {
                return result;
            }
        }
        match op {
            None => self.assign(place, value, op_span, span),
            Some(op) => self.compound_assign(op, place, value, op_span, span),
        }
    }

    fn assign(&mut self, place: Expr, value: Expr, op_span: Span, span: Span) -> Expr {
        if !self.check_assignable(&place, op_span) {
            return Expr::error(span);
        }
        if let TyKind::Array { .. } = self.types().kind(place.ty.ty) {
            let message = format!("array type '{}' is not assignable", self.name_of(place.ty.ty));
            self.error("not-assignable", op_span, message);
            return Expr::error(span);
        }
        let quals = place.ty;
        let value = self.convert(value, QualTy::plain(quals.ty), Purpose::Assign);
        Expr::place(ExprKind::Assign { place: Box::new(place), value: Box::new(value) }, quals, span)
    }

    fn compound_assign(&mut self, op: BinaryOp, place: Expr, value: Expr, op_span: Span, span: Span) -> Expr {
        if !self.check_assignable(&place, op_span) {
            return Expr::error(span);
        }
        let quals = place.ty;
        let value = self.load(value);
        let value = self.scalar_from_class(value);
        let compound = |compute: Ty, value: Expr, place: Expr| {
            let kind = ExprKind::CompoundAssign { op, place: Box::new(place), compute, value: Box::new(value) };
            Expr::place(kind, quals, span)
        };
        if self.types().pointee(quals.ty).is_some() {
            if matches!(op, BinaryOp::Add | BinaryOp::Sub) && self.is_integral_or_unscoped(value.ty.ty) {
                let value = self.index_value(value);
                return compound(quals.ty, value, place);
            }
            self.invalid_operands(&place, &value, op_span);
            return Expr::error(span);
        }
        if let TyKind::Matrix { .. } = self.types().kind(quals.ty) {
            let loaded = self.load(place.clone());
            let result = self.matrix_arithmetic(op, loaded, value, op_span, span);
            return self.assign(place, result, op_span, span);
        }
        let Some((compute, right)) = self.operand_types(op, quals.ty, value.ty.ty) else {
            self.invalid_operands(&place, &value, op_span);
            return Expr::error(span);
        };
        // A vector cannot become a scalar again.
        let grows = self.types().vector_parts(compute).is_some() && self.types().vector_parts(quals.ty).is_none();
        let element = self.types().element_of(compute);
        let needs_integer = matches!(
            op,
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
        );
        if grows || (needs_integer && self.types().float_kind(element).is_some()) {
            self.invalid_operands(&place, &value, op_span);
            return Expr::error(span);
        }
        let value = self.convert_value(value, right);
        compound(compute, value, place)
    }

    /// Complains where something cannot be written.
    pub(super) fn check_assignable(&mut self, place: &Expr, op_span: Span) -> bool {
        if place.ty.ty == Ty::ERROR || (place.ty.ty == Ty::DEPENDENT && !place.is_place) {
            return true;
        }
        if !place.is_place || matches!(place.kind, ExprKind::Temporary(_)) {
            // A member of a temporary is no place, either.
            self.error("not-assignable", op_span, "expression is not assignable");
            return false;
        }
        if let ExprKind::Swizzle { components, .. } = &place.kind {
            let mut seen = [false; 4];
            for &component in components {
                if std::mem::replace(&mut seen[usize::from(component & 3)], true) {
                    let message = "vector is not assignable (contains duplicate components)";
                    self.error("not-assignable", op_span, message);
                    return false;
                }
            }
        }
        if place.ty.space == Some(AddressSpace::Constant) {
            let diagnostic = match self.root_name(place) {
                Some(name) => {
                    format!("read-only variable '{name}' is not assignable: it is in the constant address space")
                }
                None => "read-only variable is not assignable: it is in the constant address space".into(),
            };
            self.error("read-only", op_span, diagnostic);
            return false;
        }
        if place.ty.is_const {
            let message = match self.root_name(place) {
                Some(name) => format!(
                    "cannot assign to variable '{name}' with const-qualified type '{}'",
                    self.name_of_qual(place.ty)
                ),
                None => {
                    format!("read-only variable is not assignable: its type is '{}'", self.name_of_qual(place.ty))
                }
            };
            self.error("read-only", op_span, message);
            return false;
        }
        true
    }

    fn root_name(&self, place: &Expr) -> Option<SmolStr> {
        match &place.kind {
            ExprKind::Local(id) => self.function.locals.get(id.0 as usize).map(|local| local.name.clone()),
            ExprKind::Global(id) => Some(self.program.global(*id).name.clone()),
            _ => None,
        }
    }

    // --- conditional -------------------------------------------------------------------------------------------

    pub(super) fn check_conditional(
        &mut self,
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.check_expr(condition);
        if self.types().vector_parts(condition.ty.ty).is_some() {
            let message = format!(
                "a condition must be a scalar, not '{}'; use select() for vectors",
                self.name_of(condition.ty.ty)
            );
            self.error("not-bool", condition.span, message);
            return Expr::error(span);
        }
        let condition = self.as_bool(condition);
        let (then, otherwise) = (self.check_expr(then), self.check_expr(otherwise));
        let unknown = |expr: &Expr| expr.ty.ty.is_unknown();
        if unknown(&condition) && condition.ty.ty == Ty::ERROR || unknown(&then) || unknown(&otherwise) {
            let error = [&condition, &then, &otherwise].iter().any(|e| e.ty.ty == Ty::ERROR);
            return Expr::value(ExprKind::Error, if error { Ty::ERROR } else { Ty::DEPENDENT }, span);
        }
        let conditional = |ty: QualTy, is_place: bool, then: Expr, otherwise: Expr| {
            let kind = ExprKind::Conditional {
                condition: Box::new(condition.clone()),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            };
            Expr { kind, ty, is_place, span }
        };
        if then.is_place && otherwise.is_place && then.ty == otherwise.ty {
            return conditional(then.ty, true, then, otherwise);
        }
        let (then, otherwise) = (self.load(then), self.load(otherwise));
        if then.ty.ty == Ty::VOID && otherwise.ty.ty == Ty::VOID {
            return conditional(then.ty, false, then, otherwise);
        }
        let ty = self.conditional_type(&then, &otherwise);
        let Some(ty) = ty else {
            let message = format!(
                "incompatible operand types ('{}' and '{}')",
                self.name_of(then.ty.ty),
                self.name_of(otherwise.ty.ty)
            );
            self.error("incompatible-operands", span, message);
            return Expr::error(span);
        };
        let then = self.convert(then, QualTy::plain(ty), Purpose::Variable);
        let otherwise = self.convert(otherwise, QualTy::plain(ty), Purpose::Variable);
        conditional(QualTy::plain(ty), false, then, otherwise)
    }

    fn conditional_type(&mut self, then: &Expr, otherwise: &Expr) -> Option<Ty> {
        let (a, b) = (then.ty.ty, otherwise.ty.ty);
        if a == b {
            return Some(a);
        }
        if self.is_number_like(a) && self.is_number_like(b) {
            return self.common_number(a, b);
        }
        if let (Some(x), Some(y)) = (self.types().pointee(a), self.types().pointee(b)) {
            let compatible = x.ty == y.ty && x.space == y.space;
            let both =
                QualTy { is_const: x.is_const || y.is_const, is_volatile: x.is_volatile || y.is_volatile, ..x };
            return compatible.then(|| self.types_mut().pointer(both));
        }
        let a_to_b = self.conversion(then, QualTy::plain(b)).is_some();
        let b_to_a = self.conversion(otherwise, QualTy::plain(a)).is_some();
        match (a_to_b, b_to_a) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            // A packed vector and its plain form.
            (true, true) => Some(self.types_mut().unpacked(a)),
            (false, false) => None,
        }
    }

    // --- operators of classes ----------------------------------------------------------------------------------

    /// A type for which operators can be defined.
    fn is_overloadable(&self, ty: Ty) -> bool {
        matches!(self.types().kind(ty), TyKind::Struct(_) | TyKind::Enum(_) | TyKind::SimdgroupMatrix { .. })
    }

    /// Calls `operator…` for these operands, where one is declared that fits; `None` leaves it to the built-in ones.
    fn call_operator(&mut self, name: &str, args: Vec<Expr>, op_span: Span, span: Span) -> Option<Expr> {
        let operands: Vec<Operand<'a>> = args.iter().cloned().map(Operand::Value).collect();
        let mut free: Vec<EntityId> = match self.lookup_operator(name) {
            Some(Symbol::Functions(entities)) => entities,
            _ => Vec::new(),
        };
        self.add_associated(name, &operands, &mut free);
        let mut methods = Vec::new();
        if let Some(class) = self.types().struct_id(args[0].ty.ty) {
            self.complete_class(class);
            match self.lookup_member(class, name).map(|found| found.symbol) {
                Some(Symbol::Functions(found)) => methods = found,
                Some(Symbol::Dependent) => return Some(Expr::value(ExprKind::Error, Ty::DEPENDENT, span)),
                _ => {}
            }
        }
        if free.is_empty() && methods.is_empty() {
            return None;
        }
        let object = args[0].clone();
        let rest: Vec<Operand<'a>> = operands[1..].to_vec();
        let method_set = |entities: Vec<EntityId>| FunctionSet {
            name: name.into(),
            entities,
            explicit: None,
            object: Some(object.clone()),
            span: op_span,
            allows_adl: false,
        };
        let free_set = |entities: Vec<EntityId>| FunctionSet {
            name: name.into(),
            entities,
            explicit: None,
            object: None,
            span: op_span,
            allows_adl: false,
        };
        let method_fits = !methods.is_empty()
            && self.attempt(|this| this.call_set(method_set(methods.clone()), rest.clone(), span)).is_ok();
        let free_fits = !free.is_empty()
            && self.attempt(|this| this.call_set(free_set(free.clone()), operands.clone(), span)).is_ok();
        match (method_fits, free_fits) {
            (true, _) => Some(self.call_set(method_set(methods), rest, span)),
            (false, true) => Some(self.call_set(free_set(free), operands, span)),
            (false, false) => {
                // Assignment of the same type, and numbers that the operands convert to, are built in.
                let same = args.len() == 2 && args[0].ty.ty == args[1].ty.ty && name == "operator=";
                if same || self.has_builtin_meaning(&args) {
                    return None;
                }
                match methods.is_empty() {
                    false => Some(self.call_set(method_set(methods), rest, span)),
                    true => {
                        if args.len() == 2 {
                            self.invalid_operands(&args[0], &args[1], op_span);
                        } else {
                            let message = format!(
                                "invalid argument type '{}' to unary expression",
                                self.name_of(args[0].ty.ty)
                            );
                            self.error("invalid-operand", op_span, message);
                        }
                        Some(Expr::error(span))
                    }
                }
            }
        }
    }

    /// Operators are looked up past the members of the class we are in.
    fn lookup_operator(&mut self, name: &str) -> Option<Symbol> {
        let namespace = self.scopes.enclosing_namespace(self.scope);
        let mut scope = Some(namespace);
        let mut all: Vec<EntityId> = Vec::new();
        while let Some(id) = scope {
            if let Some(Symbol::Functions(found)) = self.scopes.find_in(id, name) {
                all.extend(found);
                break;
            }
            scope = self.scopes.get(id).parent;
        }
        (!all.is_empty()).then_some(Symbol::Functions(all))
    }

    /// Every operand is a number, or a class that converts to one.
    fn has_builtin_meaning(&mut self, args: &[Expr]) -> bool {
        args.iter().all(|arg| {
            let ty = arg.ty.ty;
            self.is_number_like(self.types().element_of(ty))
                || self.types().enum_id(ty).is_some()
                || self.types().struct_id(ty).is_some_and(|class| self.number_conversion_of(class, arg).is_some())
        })
    }

    /// The number that an object converts to, for the built-in operators.
    fn scalar_from_class(&mut self, value: Expr) -> Expr {
        let Some(class) = self.types().struct_id(value.ty.ty) else { return value };
        match self.number_conversion_of(class, &value) {
            Some(ty) => self.convert(value, QualTy::plain(ty), Purpose::Variable),
            None => value,
        }
    }

    fn number_conversion_of(&mut self, class: crate::types::StructId, object: &Expr) -> Option<Ty> {
        self.complete_class(class);
        for entity in self.class(class).conversions.clone() {
            if self.entity(entity).header.is_some() {
                continue;
            }
            let signature = self.signature(entity, &[])?;
            let (Some(result), Some(this)) = (signature.result, signature.this) else { continue };
            if self.is_number_like(self.types().element_of(result)) && self.object_converts(object, this, entity) {
                return Some(result);
            }
        }
        // A conversion template gives whatever is asked for; `float` is what the built-in operators would ask.
        for entity in self.class(class).conversions.clone() {
            if self.entity(entity).header.is_some() && self.deduce_conversion(entity, Ty::FLOAT).is_some() {
                return Some(Ty::FLOAT);
            }
        }
        None
    }
}
