//! New objects: aggregates, vectors and matrices from their parts, zero.

use super::memory::{Location, Root, Slot, in_bits};
use super::number::{self};
use super::{Machine, Outcome, SUBEXPRESSION, not_constant, too_long};
use crate::program::{Expr, FunctionId};
use crate::source::Span;
use crate::types::{Ty, TyKind};

impl<'p> Machine<'p> {
    pub(super) fn construct(
        &mut self,
        constructor: FunctionId,
        args: &'p [Expr],
        ty: Ty,
        span: Span,
    ) -> Outcome<Slot> {
        let mut values = self.values(args)?;
        let object = self.memory.add(ty, Slot::Uninit);
        values.insert(0, Slot::Address(Location::new(Root::Object(object))));
        self.call(constructor, values, span)?;
        self.memory.remove(object).ok_or_else(|| not_constant(span, SUBEXPRESSION))
    }

    pub(super) fn zero(&mut self, ty: Ty, span: Span) -> Outcome<Slot> {
        if ty == Ty::VOID {
            return Ok(Slot::Uninit);
        }
        let before = super::STEP_LIMIT.saturating_sub(self.steps);
        let mut budget = before;
        match number::zero(self.types(), ty, &mut budget) {
            Some(value) => {
                self.charge(span, before - budget)?;
                Ok(Slot::from(value))
            }
            None if self.types().layout(ty).is_some_and(|layout| layout.size > before) => Err(too_long(span)),
            None => Err(not_constant(span, SUBEXPRESSION)),
        }
    }

    pub(super) fn aggregate(&mut self, parts: &'p [Expr], ty: Ty, span: Span) -> Outcome<Slot> {
        let mut slots = self.values(parts)?;
        match *self.types().kind(ty) {
            TyKind::Array { element, len } => {
                let missing = len.unwrap_or(0).saturating_sub(slots.len() as u64);
                if missing > 0 {
                    let zero = self.zero(element, span)?;
                    self.charge(span, zero.size().saturating_mul(missing))?;
                    slots.resize(slots.len() + missing as usize, zero);
                }
            }
            TyKind::Struct(id) => {
                let definition = self.types().struct_(id);
                for (slot, field) in slots.iter_mut().zip(&definition.fields) {
                    if field.bits.is_some() {
                        *slot = in_bits(self.types(), field, std::mem::replace(slot, Slot::Uninit));
                    }
                }
                let count = if definition.is_union { 1 } else { definition.fields.len() };
                for field in definition.fields.iter().take(count).skip(slots.len()) {
                    let zero = self.zero(field.ty.ty, span)?;
                    slots.push(zero);
                }
            }
            TyKind::Error | TyKind::Dependent => return Ok(Slot::UNKNOWN),
            _ => {}
        }
        Ok(Slot::Aggregate(slots))
    }

    pub(super) fn compose(&mut self, parts: &'p [Expr], ty: Ty, span: Span) -> Outcome<Slot> {
        let mut components = Vec::new();
        let mut is_known = true;
        for part in parts {
            let slot = self.value(part)?;
            // Only its type would tell the number of components of an unknown vector.
            is_known &= slot != Slot::UNKNOWN || self.types().is_arithmetic(part.ty.ty);
            flatten(slot, &mut components);
        }
        if !is_known || ty.is_unknown() {
            return Ok(Slot::UNKNOWN);
        }
        match *self.types().kind(ty) {
            TyKind::Matrix { rows, .. } => {
                let columns = components.chunks(usize::from(rows.max(1)));
                Ok(Slot::Aggregate(columns.map(|column| Slot::Aggregate(column.to_vec())).collect()))
            }
            TyKind::Vector { .. } | TyKind::PackedVector { .. } => Ok(Slot::Aggregate(components)),
            _ => components.pop().ok_or_else(|| not_constant(span, SUBEXPRESSION)),
        }
    }

    pub(super) fn splat(&mut self, operand: &'p Expr, ty: Ty, span: Span) -> Outcome<Slot> {
        let component = self.value(operand)?;
        match *self.types().kind(ty) {
            TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => {
                Ok(Slot::Aggregate(vec![component; usize::from(len)]))
            }
            TyKind::Matrix { columns, rows, .. } => {
                let zero = Slot::Scalar(self.scalar(ty, span)?.zero());
                let cell = |column, row| if column == row { component.clone() } else { zero.clone() };
                let column = |column| Slot::Aggregate((0..rows).map(|row| cell(column, row)).collect());
                Ok(Slot::Aggregate((0..columns).map(column).collect()))
            }
            TyKind::Error | TyKind::Dependent => Ok(Slot::UNKNOWN),
            _ => Err(not_constant(span, SUBEXPRESSION)),
        }
    }
}

fn flatten(slot: Slot, into: &mut Vec<Slot>) {
    match slot {
        Slot::Aggregate(parts) => parts.into_iter().for_each(|part| flatten(part, into)),
        slot => into.push(slot),
    }
}
