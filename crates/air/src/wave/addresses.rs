//! Addresses, and the loads and stores that use them.

use super::lanes::{lanes_of, splat};
use super::memory::{Access, part_type};
use super::parts::{Part, Parts};
use super::shapes::Shape;
use super::types::{components, offsets};
use super::widen::Widener;
use crate::ir::{Type, TypeKind, Value};

impl<'m> Widener<'_, 'm> {
    pub(super) fn address(&mut self, instruction: Value<'m>) -> Part<'m> {
        let shape = self.shapes.of(instruction)[0];
        let operands = instruction.operands();
        let pointer = self.get(operands[0])[0];
        let terms = self.address_terms(instruction);
        let private = instruction.ty().address_space() == 0 && pointer_is_offset(pointer);
        let on_bases = |w: &Self| {
            let mut total = pointer.base()?;
            for (index, scale) in &terms {
                total = w.step(total, index.base()?, *scale, private);
            }
            Some(total)
        };
        let on_lanes = |w: &Self| {
            // Uniform indices are added to a scalar as long as there is one.
            let mut total = pointer.uniform().unwrap_or_else(|| pointer.lanes(&w.b));
            for (index, scale) in terms.iter().filter(|(index, _)| index.uniform().is_some()) {
                total = w.step(total, index.uniform().unwrap_or_else(|| index.lanes(&w.b)), *scale, private);
            }
            for (index, scale) in terms.iter().filter(|(index, _)| index.uniform().is_none()) {
                total = w.step(total, index.lanes(&w.b), *scale, private);
            }
            if total.ty().is_vector() { total } else { splat(&w.b, total) }
        };
        match shape {
            shape if shape.is_uniform() => on_bases(self).map(Part::Uniform),
            Shape::Ramp(ramp) => on_bases(self).map(|base| Part::Ramp {
                base,
                stride: ramp.stride,
                lanes: (!ramp.exact).then(|| on_lanes(self)),
            }),
            _ => None,
        }
        .unwrap_or_else(|| Part::Lanes(on_lanes(self)))
    }

    /// The indices of a getelementptr, each with the bytes that it counts.
    fn address_terms(&mut self, instruction: Value<'m>) -> Vec<(Part<'m>, i64)> {
        let int = Type::int(self.b.context(), 64);
        let mut terms = Vec::new();
        let mut stepped = instruction.source_element_type();
        for (position, index) in instruction.operands().into_iter().skip(1).enumerate() {
            if position > 0 && stepped.kind() == TypeKind::LLVMStructTypeKind {
                let member = index.as_int().unwrap_or(0) as usize;
                let offset = self.layout.offset(stepped, member) as i64;
                terms.push((Part::Uniform(int.constant(offset)), 1));
                stepped = stepped.members()[member];
                continue;
            }
            if position > 0 {
                stepped = stepped.element();
            }
            let index = self.get(index)[0];
            terms.push((index, self.layout.size(stepped) as i64));
        }
        terms
    }

    /// `pointer + index * scale`.
    fn step(&self, pointer: Value<'m>, index: Value<'m>, scale: i64, private: bool) -> Value<'m> {
        let b = &self.b;
        let bits = Type::int(b.context(), if private { 32 } else { 64 });
        let wanted = if index.ty().is_vector() { lanes_of(bits) } else { bits };
        let index = match index.ty().scalar().int_bits().cmp(&bits.int_bits()) {
            std::cmp::Ordering::Less => b.sext(index, wanted),
            std::cmp::Ordering::Greater => b.trunc(index, wanted),
            std::cmp::Ordering::Equal => index,
        };
        let bytes = if scale == 1 { index } else { b.mul(index, wanted.constant(scale)) };
        if !private {
            return b.offset(pointer, bytes);
        }
        match (pointer.ty().is_vector(), bytes.ty().is_vector()) {
            (true, false) => b.add(pointer, splat(b, bytes)),
            (false, true) => b.add(splat(b, pointer), bytes),
            _ => b.add(pointer, bytes),
        }
    }

    pub(super) fn load(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let (pointer, ty) = (instruction.operand(0), instruction.ty());
        let types = components(ty);
        let offsets = offsets(self.layout, ty);
        let at = self.get(pointer)[0];
        let is_volatile = instruction.is_volatile();
        if self.is_private(pointer, at) {
            let frame = self.private.frame_of(pointer);
            return types
                .iter()
                .zip(offsets)
                .map(|(&ty, offset)| self.load_private(frame, at, offset, ty, is_volatile))
                .collect();
        }
        const CONSTANT: u32 = 2;
        let is_constant = pointer.ty().address_space() == CONSTANT;
        self.prefetch(instruction, at);
        let is_in_order = self.streams.keeps_order_of(instruction);
        Access { is_constant, is_volatile, is_in_order, ..self.access(at, &offsets, instruction.alignment()) }
            .load(&types)
    }

    pub(super) fn store(&mut self, instruction: Value<'m>) {
        let (value, pointer) = (instruction.operand(0), instruction.operand(1));
        let is_volatile = instruction.is_volatile();
        let parts = self.get(value);
        let offsets = offsets(self.layout, value.ty());
        let at = self.get(pointer)[0];
        if self.is_private(pointer, at) {
            let frame = self.private.frame_of(pointer);
            for (part, offset) in parts.into_iter().zip(offsets) {
                self.store_private(frame, at, offset, part, is_volatile);
            }
            return;
        }
        if !parts.is_empty() {
            Access { is_volatile, ..self.access(at, &offsets, instruction.alignment()) }.store(&parts);
        }
    }

    /// Pointers into thread memory are offsets, but for those to the program's constants.
    pub(super) fn is_private(&self, pointer: Value<'m>, at: Part<'m>) -> bool {
        pointer.ty().address_space() == 0 && pointer_is_offset(at)
    }
}

/// A pointer to private memory is kept as a number.
fn pointer_is_offset(part: Part) -> bool {
    part_type(part).is_int()
}
