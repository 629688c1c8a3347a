//! `c ? a : b`

use crate::check::Checker;
use crate::check::conversions::Purpose;
use crate::parse::ast;
use crate::program::{Expr, ExprKind};
use crate::source::Span;
use crate::types::{QualTy, Ty};

impl<'a> Checker<'a> {
    pub(super) fn check_conditional(
        &mut self,
        condition: &'a ast::Expr,
        then: &'a ast::Expr,
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.check_expr(condition);
        if self.tables.types().vector_parts(condition.ty.ty).is_some() {
            let message = format!(
                "a condition must be a scalar, not '{}'; use select() for vectors",
                self.tables.name_of(condition.ty.ty)
            );
            self.diagnostics.error("not-bool", condition.span, message);
            return Expr::error(span);
        }
        let (then, otherwise) = (self.check_expr(then), self.check_expr(otherwise));
        let (then, otherwise) = self.uniform_choice(&condition, then, otherwise);
        let condition = self.as_bool(condition);
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
                self.tables.name_of(then.ty.ty),
                self.tables.name_of(otherwise.ty.ty)
            );
            self.diagnostics.error("incompatible-operands", span, message);
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
        if self.tables.is_number(a) && self.tables.is_number(b) {
            let (a, b) = (self.tables.operand_type(then), self.tables.operand_type(otherwise));
            return self.tables.common_number(a, b);
        }
        if let (Some(x), Some(y)) = (self.tables.types().pointee(a), self.tables.types().pointee(b)) {
            let pointee = if self.derives_from(y.ty, x.ty) || x.ty == y.ty { x } else { y };
            let compatible = (pointee.ty == x.ty || self.derives_from(x.ty, y.ty)) && x.space == y.space;
            let (is_const, is_volatile) = (x.is_const || y.is_const, x.is_volatile || y.is_volatile);
            let both = QualTy { is_const, is_volatile, coherence: x.coherence.max(y.coherence), ..pointee };
            return compatible.then(|| self.tables.types_mut().pointer(both));
        }
        let a_to_b = self.conversion(then, QualTy::plain(b)).is_some();
        let b_to_a = self.conversion(otherwise, QualTy::plain(a)).is_some();
        match (a_to_b, b_to_a) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            // A packed vector and its plain form.
            (true, true) => Some(self.tables.types_mut().unpacked(a)),
            (false, false) => None,
        }
    }
}
