//! Operators, conversions and assignments.

use super::memory::{Location, Slot};
use super::number::{self, Scalar};
use super::pointers::{REINTERPRET, compare_pointers};
use super::{Machine, Outcome, SUBEXPRESSION, UNINITIALIZED, not_constant};
use crate::program::{BinaryOp, CastKind, Expr, UnaryOp, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind};

impl<'p> Machine<'p> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &'p Expr, span: Span) -> Outcome<Slot> {
        let value = self.value(operand)?;
        if value == Slot::UNKNOWN {
            return Ok(value);
        }
        let kind = self.scalar(operand.ty.ty, span)?;
        map(&value, &|value| number::unary(op, kind, value)).map_err(|reason| not_constant(span, reason))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, ty: Ty, lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
        let is_pointer = |slot: &Slot| {
            matches!(slot, Slot::Address(_) | Slot::Scalar(Value::Null | Value::Function(_) | Value::Str(_)))
        };
        if is_pointer(&lhs) || is_pointer(&rhs) {
            return compare_pointers(op, lhs, rhs, span);
        }
        if lhs == Slot::UNKNOWN || rhs == Slot::UNKNOWN {
            return Ok(Slot::UNKNOWN);
        }
        let kind = self.scalar(ty, span)?;
        zip(&lhs, &rhs, &|lhs, rhs| number::binary(op, kind, lhs, rhs)).map_err(|reason| not_constant(span, reason))
    }

    fn convert(&mut self, slot: &Slot, to: Ty, span: Span) -> Outcome<Slot> {
        let to = self.scalar(to, span)?;
        map(slot, &|value| number::convert_scalar(value, to).ok_or_else(|| cannot_convert(value, to)))
            .map_err(|reason| not_constant(span, reason))
    }

    pub(super) fn cast(&mut self, kind: CastKind, operand: &'p Expr, ty: Ty, span: Span) -> Outcome<Slot> {
        if kind == CastKind::Discard {
            self.effect(operand)?;
            return Ok(Slot::Uninit);
        }
        let value = self.value(operand)?;
        match kind {
            CastKind::Number | CastKind::Matrix => self.convert(&value, ty, span),
            CastKind::Packing | CastKind::Discard => Ok(value),
            CastKind::NullPointer => Ok(Slot::Scalar(Value::Null)),
            CastKind::Pointer | CastKind::Base(_) => self.cast_pointer(value, ty, span),
            CastKind::PointerToBool => match value {
                Slot::Address(_) => Ok(Slot::Scalar(Value::Bool(true))),
                value => self.convert(&value, Ty::BOOL, span),
            },
            CastKind::IntToPointer if value == Slot::Scalar(Value::Int(0)) => Ok(Slot::Scalar(Value::Null)),
            CastKind::IntToPointer | CastKind::PointerToInt if value == Slot::UNKNOWN => Ok(value),
            CastKind::IntToPointer | CastKind::PointerToInt => Err(not_constant(span, REINTERPRET)),
        }
    }

    pub(super) fn matrix_product(&mut self, lty: Ty, lhs: &Slot, rty: Ty, rhs: &Slot, span: Span) -> Outcome<Slot> {
        if *lhs == Slot::UNKNOWN || *rhs == Slot::UNKNOWN {
            return Ok(Slot::UNKNOWN);
        }
        let kind = self.scalar(lty, span)?;
        let is_matrix = |ty| matches!(self.types().kind(ty), TyKind::Matrix { .. });
        let times = |a: &Slot, b: &Slot| zip(a, b, &|a, b| number::binary(BinaryOp::Mul, kind, a, b));
        let plus = |a: &Slot, b: &Slot| zip(a, b, &|a, b| number::binary(BinaryOp::Add, kind, a, b));
        // The sum of `many[i] * each[i]`: of a matrix's columns scaled, or of the products of components.
        let combine = |many: &[Slot], each: &Slot| -> Result<Slot, String> {
            let Slot::Aggregate(each) = each else { return Err(SUBEXPRESSION.into()) };
            let mut products = many.iter().zip(each).map(|(one, factor)| times(one, factor));
            let first = products.next().unwrap_or_else(|| Err(SUBEXPRESSION.into()))?;
            products.try_fold(first, |sum, product| plus(&sum, &product?))
        };
        let result = match (lhs, rhs) {
            (Slot::Aggregate(columns), Slot::Aggregate(others)) => match (is_matrix(lty), is_matrix(rty)) {
                (true, true) => others
                    .iter()
                    .map(|column| combine(columns, column))
                    .collect::<Result<_, _>>()
                    .map(Slot::Aggregate),
                (true, false) => combine(columns, rhs),
                // A row times a matrix: the products with each column.
                (false, true) => others
                    .iter()
                    .map(|column| combine(columns, column))
                    .collect::<Result<_, _>>()
                    .map(Slot::Aggregate),
                (false, false) => times(lhs, rhs),
            },
            _ => times(lhs, rhs),
        };
        result.map_err(|reason| not_constant(span, reason))
    }

    pub(super) fn compound_assign(
        &mut self,
        op: BinaryOp,
        target: &'p Expr,
        compute: Ty,
        value: &'p Expr,
        span: Span,
    ) -> Outcome<Location> {
        let operand = self.value(value)?;
        let place = self.place(target)?;
        let old = self.load(&place, target.ty.ty, span)?;
        let types = self.types();
        let result = if types.pointee(compute).is_some() {
            self.move_pointer(old, operand, op == BinaryOp::Sub, span)?
        } else {
            let old = self.convert(&old, compute, span)?;
            let is_product = op == BinaryOp::Mul && matches!(types.kind(value.ty.ty), TyKind::Matrix { .. });
            let result = if is_product {
                self.matrix_product(compute, &old, value.ty.ty, &operand, span)?
            } else {
                self.binary(op, compute, old, operand, span)?
            };
            self.convert(&result, target.ty.ty, span)?
        };
        self.store(&place, result, span)?;
        Ok(place)
    }

    /// The location and its old value.
    pub(super) fn increment(
        &mut self,
        target: &'p Expr,
        is_decrement: bool,
        span: Span,
    ) -> Outcome<(Location, Slot)> {
        let place = self.place(target)?;
        let old = self.load(&place, target.ty.ty, span)?;
        let one = Slot::Scalar(Value::Int(1));
        let new = if self.types().pointee(target.ty.ty).is_some() {
            self.move_pointer(old.clone(), one, is_decrement, span)?
        } else {
            // Small integers are promoted, so that only `int` and `long` overflow.
            let narrow = matches!(self.scalar(target.ty.ty, span)?, Scalar::Bool | Scalar::Int(_))
                && self.types().layout(self.types().element_of(target.ty.ty)).is_some_and(|layout| layout.size < 4);
            let compute = if narrow { Ty::INT } else { target.ty.ty };
            let wide = self.convert(&old, compute, span)?;
            let one = self.convert(&one, compute, span)?;
            let op = if is_decrement { BinaryOp::Sub } else { BinaryOp::Add };
            let new = self.binary(op, compute, wide, one, span)?;
            self.convert(&new, target.ty.ty, span)?
        };
        self.store(&place, new, span)?;
        Ok((place, old))
    }
}

fn cannot_convert(value: &Value, to: Scalar) -> String {
    match value {
        Value::Float(value) => number::out_of_range(format!("{value:?}"), to),
        _ => SUBEXPRESSION.into(),
    }
}

/// `compute` on every component.
pub(super) fn map(slot: &Slot, compute: &dyn Fn(&Value) -> Result<Value, String>) -> Result<Slot, String> {
    match slot {
        Slot::Scalar(value) => compute(value).map(Slot::Scalar),
        Slot::Aggregate(parts) => {
            parts.iter().map(|part| map(part, compute)).collect::<Result<_, _>>().map(Slot::Aggregate)
        }
        Slot::Uninit => Err(UNINITIALIZED.into()),
        Slot::Address(_) => Err(SUBEXPRESSION.into()),
    }
}

/// `compute` on every pair of components; a number is paired with all components of a vector.
pub(super) fn zip(
    lhs: &Slot,
    rhs: &Slot,
    compute: &dyn Fn(&Value, &Value) -> Result<Value, String>,
) -> Result<Slot, String> {
    match (lhs, rhs) {
        (Slot::Uninit, _) | (_, Slot::Uninit) => Err(UNINITIALIZED.into()),
        (Slot::Address(_), _) | (_, Slot::Address(_)) => Err(SUBEXPRESSION.into()),
        (Slot::Scalar(lhs), rhs) => map(rhs, &|rhs| compute(lhs, rhs)),
        (lhs, Slot::Scalar(rhs)) => map(lhs, &|lhs| compute(lhs, rhs)),
        (Slot::Aggregate(lhs), Slot::Aggregate(rhs)) if lhs.len() == rhs.len() => {
            let pairs = lhs.iter().zip(rhs);
            pairs.map(|(lhs, rhs)| zip(lhs, rhs, compute)).collect::<Result<_, _>>().map(Slot::Aggregate)
        }
        (Slot::Aggregate(_), Slot::Aggregate(_)) => Err(SUBEXPRESSION.into()),
    }
}
