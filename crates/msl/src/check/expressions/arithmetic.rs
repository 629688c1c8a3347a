//! Arithmetic on pointers and matrices.

use super::operators::invalid_operands;
use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::check::tables::Tables;
use crate::parse::ast::BinaryOp;
use crate::program::{Expr, ExprKind, Value};
use crate::source::Span;
use crate::types::{QualTy, Ty, TyKind};

impl<'a> Checker<'a> {
    pub(super) fn pointer_arithmetic(
        &mut self,
        op: BinaryOp,
        lhs: &Expr,
        rhs: &Expr,
        op_span: Span,
        span: Span,
    ) -> Option<Expr> {
        let (left, right) = (self.tables.types().pointee(lhs.ty.ty), self.tables.types().pointee(rhs.ty.ty));
        let null = |expr: &Expr| matches!(expr.kind, ExprKind::Constant(Value::Null | Value::Int(0)));
        match (left, right) {
            (None, None) => {
                let both_null = lhs.ty.ty == Ty::NULLPTR && rhs.ty.ty == Ty::NULLPTR;
                (both_null && op.is_comparison())
                    .then(|| Expr::constant(Value::Bool(op == BinaryOp::Equal), Ty::BOOL, span))
            }
            (Some(_), None) | (None, Some(_))
                if op.is_comparison()
                    && !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
                    && (null(lhs) || null(rhs)) =>
            {
                let message = format!(
                    "ordered comparison between pointer and zero ('{}' and '{}')",
                    self.tables.name_of(lhs.ty.ty),
                    self.tables.name_of(rhs.ty.ty)
                );
                self.diagnostics.error("invalid-operands", op_span, message);
                Some(Expr::error(span))
            }
            (Some(_), None) if op.is_comparison() && null(rhs) => {
                let rhs = self.tables.convert_value(rhs.clone(), lhs.ty.ty);
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs.clone()), rhs: Box::new(rhs) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            (None, Some(_)) if op.is_comparison() && null(lhs) => {
                let lhs = self.tables.convert_value(lhs.clone(), rhs.ty.ty);
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs.clone()) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            (Some(pointee), None) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                if !self.tables.is_integral_or_unscoped(rhs.ty.ty) {
                    invalid_operands(&self.tables, &mut self.diagnostics, lhs, rhs, op_span);
                    return Some(Expr::error(span));
                }
                Some(self.pointer_add(lhs.clone(), pointee, rhs.clone(), op == BinaryOp::Sub, span))
            }
            (None, Some(pointee)) if op == BinaryOp::Add && self.tables.is_integral_or_unscoped(lhs.ty.ty) => {
                Some(self.pointer_add(rhs.clone(), pointee, lhs.clone(), false, span))
            }
            (Some(a), Some(b)) if op == BinaryOp::Sub && a.ty == b.ty && a.space == b.space => {
                let kind = ExprKind::PointerDifference { lhs: Box::new(lhs.clone()), rhs: Box::new(rhs.clone()) };
                Some(Expr::value(kind, Ty::LONG, span))
            }
            (Some(a), Some(b)) if op.is_comparison() && a.space == b.space && self.comparable(a.ty, b.ty) => {
                let (mut lhs, mut rhs) = (lhs.clone(), rhs.clone());
                if self.derives_from(a.ty, b.ty) {
                    lhs = self.tables.convert_value(lhs, rhs.ty.ty);
                } else if self.derives_from(b.ty, a.ty) {
                    rhs = self.tables.convert_value(rhs, lhs.ty.ty);
                }
                let kind = ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) };
                Some(Expr::value(kind, Ty::BOOL, span))
            }
            _ => {
                invalid_operands(&self.tables, &mut self.diagnostics, lhs, rhs, op_span);
                Some(Expr::error(span))
            }
        }
    }

    /// Pointers are comparable if they point to the same type, or one to a base class of the other's.
    fn comparable(&mut self, a: Ty, b: Ty) -> bool {
        a == b || a == Ty::VOID || b == Ty::VOID || self.derives_from(a, b) || self.derives_from(b, a)
    }

    pub(super) fn pointer_add(
        &mut self,
        pointer: Expr,
        pointee: QualTy,
        offset: Expr,
        negative: bool,
        span: Span,
    ) -> Expr {
        if !self.steps_over(pointee, span) {
            return Expr::error(span);
        }
        let offset = self.tables.index_value(offset);
        let ty = pointer.ty.ty;
        let kind = ExprKind::PointerAdd { pointer: Box::new(pointer), offset: Box::new(offset), negative };
        Expr::value(kind, ty, span)
    }

    /// Reports an error if pointers to this type cannot be moved, because it has no size.
    pub(super) fn steps_over(&mut self, pointee: QualTy, span: Span) -> bool {
        self.complete_type(pointee.ty);
        let is_sized = pointee.ty != Ty::VOID
            && (self.tables.types().layout(pointee.ty).is_some() || self.tables.is_dependent_type(pointee.ty));
        if !is_sized {
            let message =
                format!("arithmetic on a pointer to an incomplete type '{}'", self.tables.name_of(pointee.ty));
            self.diagnostics.error("incomplete", span, message);
        }
        is_sized
    }

    pub(super) fn matrix_arithmetic(
        &mut self,
        op: BinaryOp,
        lhs: Expr,
        rhs: Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        let shape = |this: &Self, ty: Ty| match *this.tables.types().kind(ty) {
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
                Some(self.tables.types_mut().intern(TyKind::Matrix { element, columns, rows }))
            }
            (BinaryOp::Mul, Some((element, columns, rows)), None) => {
                match self.tables.types().vector_parts(rhs.ty.ty) {
                    Some((other, len)) if other == element && len == columns => {
                        Some(self.tables.types_mut().vector(element, rows))
                    }
                    Some(_) => None,
                    None if self.tables.is_number(rhs.ty.ty) => {
                        return self.matrix_scale(lhs, rhs, element, op, span);
                    }
                    None => None,
                }
            }
            (BinaryOp::Div, Some((element, ..)), None) if self.tables.is_number(rhs.ty.ty) => {
                return self.matrix_scale(lhs, rhs, element, op, span);
            }
            (BinaryOp::Mul, None, Some((element, columns, rows))) => {
                match self.tables.types().vector_parts(lhs.ty.ty) {
                    Some((other, len)) if other == element && len == rows => {
                        Some(self.tables.types_mut().vector(element, columns))
                    }
                    Some(_) => None,
                    None if self.tables.is_number(lhs.ty.ty) => {
                        return self.matrix_scale(rhs, lhs, element, op, span);
                    }
                    None => None,
                }
            }
            _ => None,
        };
        match result {
            Some(ty) => Expr::value(ExprKind::MatrixProduct { lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty, span),
            None => {
                invalid_operands(&self.tables, &mut self.diagnostics, &lhs, &rhs, op_span);
                Expr::error(span)
            }
        }
    }

    /// A matrix times or over a scalar, by component: the scalar becomes a matrix filled with it.
    fn matrix_scale(&mut self, matrix: Expr, scalar: Expr, element: Ty, op: BinaryOp, span: Span) -> Expr {
        let TyKind::Matrix { columns, rows, .. } = *self.tables.types().kind(matrix.ty.ty) else {
            return Expr::error(span);
        };
        let ty = matrix.ty.ty;
        let scalar = self.convert(scalar, QualTy::plain(element), Purpose::Element);
        let column_ty = self.tables.types_mut().vector(element, rows);
        let column = Expr::value(ExprKind::Splat(Box::new(scalar)), column_ty, span);
        let filled = Expr::value(ExprKind::Compose(vec![column; usize::from(columns)]), ty, span);
        Expr::value(ExprKind::Binary { op, lhs: Box::new(matrix), rhs: Box::new(filled) }, ty, span)
    }
}

impl<'a> Tables<'a> {
    /// An index in 64 bits, with the sign of its type.
    pub(super) fn index_value(&self, index: Expr) -> Expr {
        let promoted = self.promoted(index.ty.ty);
        let signed = self.types().int_kind(promoted).is_none_or(|kind| kind.is_signed());
        self.convert_value(index, if signed { Ty::LONG } else { Ty::ULONG })
    }
}
