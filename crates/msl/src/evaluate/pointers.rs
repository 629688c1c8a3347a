//! Pointers: dereference, arithmetic, comparison.

use super::memory::{Location, Slot, Step, known};
use super::number::{self};
use super::{Machine, Outcome, SUBEXPRESSION, not_constant};
use crate::program::{BinaryOp, Value};
use crate::source::Span;
use crate::types::{Ty, TyKind, Types};

pub(super) const REINTERPRET: &str =
    "cast that performs the conversions of a reinterpret_cast is not allowed in a constant expression";

impl<'p> Machine<'p> {
    pub(super) fn pointee(&mut self, pointer: Slot, span: Span) -> Outcome<Location> {
        match known(pointer)? {
            Slot::Address(place) => Ok(place),
            Slot::Scalar(Value::Null) => {
                Err(not_constant(span, "dereferencing a null pointer is not allowed in a constant expression"))
            }
            _ => Err(not_constant(span, SUBEXPRESSION)),
        }
    }

    pub(super) fn move_pointer(
        &mut self,
        pointer: Slot,
        offset: Slot,
        negative: bool,
        span: Span,
    ) -> Outcome<Slot> {
        let Slot::Scalar(Value::Int(offset)) = known(offset)? else {
            return Err(not_constant(span, SUBEXPRESSION));
        };
        let offset = if negative { -offset } else { offset };
        let pointer = known(pointer)?;
        if offset == 0 {
            return Ok(pointer);
        }
        let mut place = self.pointee(pointer, span)?;
        let Some(Step::Element(index)) = place.path.pop() else {
            return Err(not_constant(
                span,
                format!("cannot refer to element {offset} of non-array object in a constant expression"),
            ));
        };
        let array = self.memory.type_of(self.program, &place);
        let len = array.and_then(|array| match *self.types().kind(array) {
            TyKind::Array { len, .. } => len,
            _ => None,
        });
        let moved = i128::from(index) + offset;
        if moved < 0 || len.is_some_and(|len| moved > i128::from(len)) {
            let len = len.map_or(String::new(), |len| format!("{len} "));
            return Err(not_constant(
                span,
                format!("cannot refer to element {moved} of array of {len}elements in a constant expression"),
            ));
        }
        place.path.push(Step::Element(moved as u64));
        Ok(Slot::Address(place))
    }

    /// A cast to a base class or back; any other would reinterpret memory.
    pub(super) fn cast_pointer(&mut self, pointer: Slot, ty: Ty, span: Span) -> Outcome<Slot> {
        let mut place = match pointer {
            Slot::Address(place) => place,
            pointer => return Ok(pointer),
        };
        let types = self.types();
        let target = match *types.kind(ty) {
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => to.ty,
            _ => return Err(not_constant(span, SUBEXPRESSION)),
        };
        let Some(ty) = self.memory.type_of(self.program, &place) else { return Ok(Slot::Address(place)) };
        if let Some(base_path) = path_to_base(types, ty, target) {
            place.path.extend(base_path);
            return Ok(Slot::Address(place));
        }
        while let Some(step) = place.path.pop() {
            let outer = self.memory.type_of(self.program, &place).and_then(|ty| types.struct_id(ty).zip(Some(ty)));
            let (Some((id, ty)), Step::Field(field)) = (outer, step) else { break };
            if !types.struct_(id).fields.get(field as usize).is_some_and(|field| field.is_base) {
                break;
            }
            if ty == target {
                return Ok(Slot::Address(place));
            }
        }
        Err(not_constant(span, REINTERPRET))
    }
}

/// The steps from a class to itself or one of its base classes.
fn path_to_base(types: &Types, class: Ty, target: Ty) -> Option<Vec<Step>> {
    if class == target {
        return Some(Vec::new());
    }
    let fields = &types.struct_(types.struct_id(class)?).fields;
    (0..).zip(fields).filter(|(_, field)| field.is_base).find_map(|(index, field)| {
        let mut path = path_to_base(types, field.ty.ty, target)?;
        path.insert(0, Step::Field(index));
        Some(path)
    })
}

/// The indices of two locations in the same array.
fn element_indices(lhs: &Location, rhs: &Location) -> Option<(u64, u64)> {
    let ((Step::Element(left), left_path), (Step::Element(right), right_path)) =
        (lhs.path.split_last()?, rhs.path.split_last()?)
    else {
        return None;
    };
    (lhs.root == rhs.root && left_path == right_path).then_some((*left, *right))
}

pub(super) fn pointer_difference(lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
    match (known(lhs)?, known(rhs)?) {
        (lhs, rhs) if lhs == rhs => Ok(Slot::Scalar(Value::Int(0))),
        (Slot::Address(lhs), Slot::Address(rhs)) => match element_indices(&lhs, &rhs) {
            Some((left, right)) => Ok(Slot::Scalar(Value::Int(i128::from(left) - i128::from(right)))),
            None => Err(not_constant(span, "subtracted pointers are not elements of the same array")),
        },
        _ => Err(not_constant(span, SUBEXPRESSION)),
    }
}

pub(super) fn compare_pointers(op: BinaryOp, lhs: Slot, rhs: Slot, span: Span) -> Outcome<Slot> {
    let (lhs, rhs) = (known(lhs)?, known(rhs)?);
    let result = match (&lhs, &rhs) {
        (Slot::Address(left), Slot::Address(right)) if !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
            let indices = element_indices(left, right).or_else(|| (left == right).then_some((0, 0)));
            indices.and_then(|(left, right)| number::compare(op, left, right))
        }
        _ => match op {
            BinaryOp::Equal => Some(lhs == rhs),
            BinaryOp::NotEqual => Some(lhs != rhs),
            _ => None,
        },
    };
    match result {
        Some(result) => Ok(Slot::Scalar(Value::Bool(result))),
        None => Err(not_constant(span, "comparison of addresses has unspecified value")),
    }
}
