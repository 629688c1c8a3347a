//! Elements of vectors, and the same bits as other elements.

use super::lanes::lanes_of;
use super::parts::{Part, Parts};
use super::types::{bytes, components, scalar};
use super::widen::Widener;
use super::{Error, Result};
use crate::ir::{IntPredicate, Opcode, Type, Value};

impl<'m> Widener<'_, 'm> {
    pub(super) fn extract_element(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let (parts, index) = (self.get(instruction.operand(0)), instruction.operand(1));
        if let Some(index) = index.as_int() {
            let anything = Part::Uniform(scalar(instruction.ty()).poison());
            return vec![parts.get(index as usize).copied().unwrap_or(anything)];
        }
        let index = self.get(index)[0];
        let uniform = self.shapes.of(instruction)[0].is_uniform();
        let pick = |part: Part<'m>| if uniform { part.base() } else { Some(part.lanes(&self.b)) };
        let at = pick(index).unwrap_or_else(|| index.lanes(&self.b));
        let mut found = pick(parts[0]).unwrap_or_else(|| parts[0].lanes(&self.b));
        for (i, part) in parts.iter().enumerate().skip(1) {
            let part = pick(*part).unwrap_or_else(|| part.lanes(&self.b));
            let here = self.b.icmp(IntPredicate::LLVMIntEQ, at, at.ty().constant(i as i64));
            found = self.b.select(here, part, found);
        }
        vec![if uniform { Part::Uniform(found) } else { Part::Lanes(found) }]
    }

    pub(super) fn insert_element(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let mut parts = self.get(instruction.operand(0));
        let (element, index) = (self.get(instruction.operand(1))[0], instruction.operand(2));
        if let Some(index) = index.as_int() {
            if let Some(part) = parts.get_mut(index as usize) {
                *part = element;
            }
            return parts;
        }
        let index = self.get(index)[0];
        let uniform = self.shapes.of(instruction).iter().all(|shape| shape.is_uniform());
        let one = |(i, part): (usize, Part<'m>)| {
            let b = &self.b;
            match (part.base(), element.base(), index.base()) {
                (Some(part), Some(element), Some(index)) if uniform => {
                    let here = b.icmp(IntPredicate::LLVMIntEQ, index, index.ty().constant(i as i64));
                    Part::Uniform(b.select(here, element, part))
                }
                _ => {
                    let index = index.lanes(b);
                    let here = b.icmp(IntPredicate::LLVMIntEQ, index, index.ty().constant(i as i64));
                    Part::Lanes(b.select(here, element.lanes(b), part.lanes(b)))
                }
            }
        };
        parts.into_iter().enumerate().map(one).collect()
    }

    /// The same bits as other components.
    pub(super) fn bitcast(&mut self, instruction: Value<'m>) -> Result<Parts<'m>> {
        let parts = self.get(instruction.operand(0));
        let (from, to) = (components(instruction.operand(0).ty()), components(instruction.ty()));
        if from.len() == to.len() {
            return Ok(self.pointwise(instruction, |w, values, ty| w.b.bitcast(values[0], ty)));
        }
        let uniform = self.shapes.of(instruction).iter().all(|shape| shape.is_uniform());
        let values: Vec<Value<'m>> = parts
            .iter()
            .map(|part| part.base().filter(|_| uniform).unwrap_or_else(|| part.lanes(&self.b)))
            .collect();
        let wrap = |value| if uniform { Part::Uniform(value) } else { Part::Lanes(value) };
        let bits = |ty: Type<'m>| if ty.is_int() { ty.int_bits() } else { bytes(ty) as u32 * 8 };
        let (small, large) = (bits(from[0]).min(bits(to[0])), bits(from[0]).max(bits(to[0])));
        if large % small != 0 {
            return Err(Error::Unsupported(format!("the cast '{}'", instruction.text().trim())));
        }
        let (context, count) = (self.b.context(), (large / small) as usize);
        let shaped = |ty: Type<'m>| if uniform { ty } else { lanes_of(ty) };
        let (small, large) = (shaped(Type::int(context, small)), shaped(Type::int(context, large)));
        let b = &self.b;
        let step = i64::from(small.scalar().int_bits());
        Ok(if from.len() > to.len() {
            let join = |(pieces, ty): (&[Value<'m>], &Type<'m>)| {
                let mut whole = b.zext(b.bitcast(pieces[0], small), large);
                for (i, piece) in pieces.iter().enumerate().skip(1) {
                    let piece = b.zext(b.bitcast(*piece, small), large);
                    whole = b.or(whole, b.binary(Opcode::LLVMShl, piece, large.constant(step * i as i64)));
                }
                wrap(b.bitcast(whole, shaped(*ty)))
            };
            values.chunks(count).zip(&to).map(join).collect()
        } else {
            let mut pieces = Vec::new();
            for value in values {
                let whole = b.bitcast(value, large);
                for i in 0..count {
                    let shifted = b.binary(Opcode::LLVMLShr, whole, large.constant(step * i as i64));
                    let piece = b.bitcast(b.trunc(shifted, small), shaped(to[pieces.len()]));
                    pieces.push(wrap(piece));
                }
            }
            pieces
        })
    }
}
