//! Assignment: `=`, `+=`, `++`, and the check that a place is assignable.

use super::operators::invalid_operands;
use crate::check::Checker;
use crate::check::conversions::{Purpose, cannot_convert};
use crate::check::tables::Tables;
use crate::parse::ast::{self, BinaryOp, UnaryOp};
use crate::program::{Expr, ExprKind, Local};
use crate::source::Span;
use crate::types::{AddressSpace, QualTy, Ty, TyKind};
use smol_str::SmolStr;

impl<'a> Checker<'a> {
    pub(super) fn check_assign(
        &mut self,
        op: Option<BinaryOp>,
        lhs: &'a ast::Expr,
        rhs: &'a ast::Expr,
        op_span: Span,
        span: Span,
    ) -> Expr {
        let place = self.check_expr(lhs);
        if op.is_none() {
            self.warn_about_self_assignment(lhs, rhs, op_span);
        }
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
        if self.tables.is_overloadable(place.ty.ty) || (op.is_some() && self.tables.is_overloadable(value.ty.ty)) {
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
        if let TyKind::Array { .. } = self.tables.types().kind(place.ty.ty) {
            let message = format!("array type '{}' is not assignable", self.tables.name_of(place.ty.ty));
            self.diagnostics.error("not-assignable", op_span, message);
            return Expr::error(span);
        }
        if place.ty.is_volatile && self.tables.types().struct_id(place.ty.ty).is_some() {
            // The implicit assignment operator is not a volatile method.
            self.diagnostics.error("no-matching-function", op_span, "no viable overloaded '='");
            return Expr::error(span);
        }
        let quals = place.ty;
        if let Some(class) = self.tables.types().struct_id(quals.ty)
            && let Some(reason) = self.tables.unassignable_member(class)
        {
            self.diagnostics.error("not-assignable", op_span, reason);
            return Expr::error(span);
        }
        // The implicit assignment does not construct.
        let value = match value.ty.ty == quals.ty {
            true => self.load(value),
            false => self.convert(value, QualTy::plain(quals.ty), Purpose::Assign),
        };
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
        if let Some(pointee) = self.tables.types().pointee(quals.ty) {
            if matches!(op, BinaryOp::Add | BinaryOp::Sub) && self.tables.is_integral_or_unscoped(value.ty.ty) {
                if !self.steps_over(pointee, span) {
                    return Expr::error(span);
                }
                let value = self.tables.index_value(value);
                return compound(quals.ty, value, place);
            }
            invalid_operands(&self.tables, &mut self.diagnostics, &place, &value, op_span);
            return Expr::error(span);
        }
        // A vector is multiplied by a matrix as a row.
        let has_matrix = |ty: Ty| matches!(self.tables.types().kind(ty), TyKind::Matrix { .. });
        if has_matrix(quals.ty) || op == BinaryOp::Mul && has_matrix(value.ty.ty) {
            let loaded = self.load(place.clone());
            let result = self.matrix_arithmetic(op, loaded, value, op_span, span);
            return self.assign(place, result, op_span, span);
        }
        let (left, right) = (self.tables.operand_type(&place), self.tables.operand_type(&value));
        let Some((compute, right)) = self.tables.operand_types(op, left, right) else {
            invalid_operands(&self.tables, &mut self.diagnostics, &place, &value, op_span);
            return Expr::error(span);
        };
        // A vector cannot become a scalar again.
        let grows = self.tables.types().vector_parts(compute).is_some()
            && self.tables.types().vector_parts(quals.ty).is_none();
        let element = self.tables.types().element_of(compute);
        let needs_integer = matches!(
            op,
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Rem | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
        );
        if grows || (needs_integer && self.tables.types().float_kind(element).is_some()) {
            invalid_operands(&self.tables, &mut self.diagnostics, &place, &value, op_span);
            return Expr::error(span);
        }
        // `bfloat += float` would have to convert back, which only a cast does.
        let computed = Expr::value(ExprKind::Error, compute, span);
        if self.conversion(&computed, QualTy::plain(quals.ty)).is_none() {
            cannot_convert(
                &self.tables,
                &mut self.diagnostics,
                &computed,
                QualTy::plain(quals.ty),
                Purpose::Assign,
            );
            return Expr::error(span);
        }
        let value = self.tables.convert_value(value, right);
        compound(compute, value, place)
    }

    pub(in crate::check) fn increment(&mut self, op: UnaryOp, operand: Expr, op_span: Span, span: Span) -> Expr {
        if !self.check_assignable(&operand, op_span) {
            return Expr::error(span);
        }
        let ty = operand.ty.ty;
        let element = self.tables.types().element_of(ty);
        let allowed = (self.tables.types().is_arithmetic(element) && element != Ty::BOOL)
            || self.tables.types().pointee(ty).is_some();
        if !allowed {
            let message = format!("cannot increment value of type '{}'", self.tables.name_of(ty));
            self.diagnostics.error("invalid-operand", op_span, message);
            return Expr::error(span);
        }
        if let Some(pointee) = self.tables.types().pointee(ty)
            && !self.steps_over(pointee, span)
        {
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

    /// Reports an error if a place cannot be assigned to.
    fn check_assignable(&mut self, place: &Expr, op_span: Span) -> bool {
        if place.ty.ty == Ty::ERROR || (place.ty.ty == Ty::DEPENDENT && !place.is_place) {
            return true;
        }
        if !place.is_place || matches!(place.kind, ExprKind::Temporary(_)) {
            // A member of a temporary is no place, either.
            self.diagnostics.error("not-assignable", op_span, "expression is not assignable");
            return false;
        }
        if self.tables.may_be_part(place) {
            let message = "cannot assign to a bit-field or vector element that a conditional operator chooses";
            self.diagnostics.error("not-assignable", op_span, message);
            return false;
        }
        if let ExprKind::Swizzle { components, .. } = &place.kind {
            let mut seen = [false; 4];
            for &component in components {
                if std::mem::replace(&mut seen[usize::from(component & 3)], true) {
                    let message = "vector is not assignable (contains duplicate components)";
                    self.diagnostics.error("not-assignable", op_span, message);
                    return false;
                }
            }
        }
        if place.ty.space == Some(AddressSpace::Constant) {
            let diagnostic = match self.tables.root_name(self.function.locals(), place) {
                Some(name) => {
                    format!("read-only variable '{name}' is not assignable: it is in the constant address space")
                }
                None => "read-only variable is not assignable: it is in the constant address space".into(),
            };
            self.diagnostics.error("read-only", op_span, diagnostic);
            return false;
        }
        if place.ty.is_const {
            let message = match self.tables.root_name(self.function.locals(), place) {
                Some(name) => format!(
                    "cannot assign to variable '{name}' with const-qualified type '{}'",
                    self.tables.name_of_qual(place.ty)
                ),
                None => {
                    format!(
                        "read-only variable is not assignable: its type is '{}'",
                        self.tables.name_of_qual(place.ty)
                    )
                }
            };
            self.diagnostics.error("read-only", op_span, message);
            return false;
        }
        true
    }
}

impl<'a> Tables<'a> {
    fn root_name(&self, locals: &[Local], place: &Expr) -> Option<SmolStr> {
        match &place.kind {
            ExprKind::Local(id) => locals.get(id.0 as usize).map(|local| local.name.clone()),
            ExprKind::Global(id) => Some(self.global(*id).name.clone()),
            _ => None,
        }
    }
}
