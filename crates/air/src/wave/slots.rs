//! Slots: memory for values between blocks. Code that is laid out anew has no order in which every value comes before
//! its uses, so each has a place in memory; LLVM turns these into registers.

use super::lanes::lanes_of;
use super::parts::{Part, Parts};
use super::shapes::Shape;
use super::types::components;
use super::widen::Widener;
use crate::ir::{Block, Opcode, Type, Value};
use rustc_hash::FxHashSet;

/// The memory of a component between blocks.
#[derive(Clone, Copy)]
pub(super) enum Slot<'m> {
    Uniform(Value<'m>),
    Ramp { base: Value<'m>, stride: i64, lanes: Option<Value<'m>> },
    Lanes(Value<'m>),
}

impl<'m> Widener<'_, 'm> {
    pub(super) fn make_slots(&mut self) {
        let bits = lanes_of(Type::int(self.b.context(), 1));
        for block in 0..self.graph.len() {
            let slot = (!self.flow.is_complete(block)).then(|| self.b.alloca(bits, 4));
            if let Some(slot) = slot.filter(|_| self.flow.deferred[block]) {
                self.b.store(bits.zero(), slot, 4);
            }
            self.masks.push(slot);
        }
        for value in self.values_between_blocks() {
            self.slots.insert(value, self.slots_for(value));
        }
        for (&block, _) in self.graph.blocks.iter().zip(&self.flow.deferred).filter(|(_, deferred)| **deferred) {
            for phi in phis(block) {
                let slots = self.slots_for(phi);
                slots.iter().for_each(|&slot| self.empty(slot));
                self.gathering.insert(phi, slots);
            }
        }
        let byte = Type::int(self.b.context(), 8);
        for frame in &self.private.frames {
            self.frames.push(self.b.alloca(byte.array(frame.bytes()), 64));
        }
    }

    fn slots_for(&self, value: Value<'m>) -> Vec<Slot<'m>> {
        let slot = |(ty, shape): (Type<'m>, Shape)| match shape {
            shape if shape.is_uniform() => Slot::Uniform(self.b.alloca(ty, 8)),
            Shape::Ramp(ramp) => Slot::Ramp {
                base: self.b.alloca(ty, 8),
                stride: ramp.stride,
                lanes: (!ramp.exact).then(|| self.b.alloca(lanes_of(ty), 64)),
            },
            _ => Slot::Lanes(self.b.alloca(lanes_of(ty), 64)),
        };
        components(value.ty()).into_iter().zip(self.shapes.of(value)).map(slot).collect()
    }

    /// Values that another block uses, or that come along an edge.
    fn values_between_blocks(&self) -> Vec<Value<'m>> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        for &block in &self.graph.blocks {
            for instruction in block.instructions() {
                let is_phi = instruction.opcode() == Opcode::LLVMPHI;
                if is_phi && seen.insert(instruction) {
                    found.push(instruction);
                }
                for operand in instruction.operands() {
                    if operand.is_instruction() && (is_phi || operand.block() != block) && seen.insert(operand) {
                        found.push(operand);
                    }
                }
            }
        }
        found.retain(|value| !value.ty().is_void());
        found
    }

    /// Takes the lanes' values of a phi, which have gathered, and makes the slot undefined, so that no value stays
    /// alive in it.
    pub(super) fn collect(&mut self, phi: Value<'m>) {
        if let Some(slots) = self.gathering.get(&phi).cloned() {
            let parts = slots.iter().map(|&slot| self.take(slot)).collect();
            slots.into_iter().for_each(|slot| self.empty(slot));
            self.define(phi, parts);
        }
    }

    pub(super) fn empty(&self, slot: Slot<'m>) {
        if let Slot::Lanes(slot) = slot {
            self.b.store(slot.allocated_type().poison(), slot, 64);
        }
    }

    /// Remembers the value of an instruction.
    pub(super) fn define(&mut self, instruction: Value<'m>, parts: Parts<'m>) {
        if let Some(slots) = self.slots.get(&instruction).cloned() {
            for (slot, part) in slots.into_iter().zip(&parts) {
                self.put(slot, *part);
            }
        }
        self.current.insert(instruction, parts);
    }

    pub(super) fn put(&self, slot: Slot<'m>, part: Part<'m>) {
        match slot {
            Slot::Uniform(slot) => {
                let value = part.base().unwrap_or_else(|| slot.allocated_type().poison());
                self.b.store(value, slot, 8);
            }
            Slot::Ramp { base: slot, lanes, .. } => {
                let value = part.base().unwrap_or_else(|| slot.allocated_type().poison());
                self.b.store(value, slot, 8);
                if let Some(lanes) = lanes {
                    self.b.store(part.lanes(&self.b), lanes, 64);
                }
            }
            Slot::Lanes(slot) => {
                self.b.store(part.lanes(&self.b), slot, 64);
            }
        }
    }

    /// The components of any value.
    pub(super) fn get(&mut self, value: Value<'m>) -> Parts<'m> {
        if let Some(parts) = self.current.get(&value) {
            return parts.clone();
        }
        let parts: Parts<'m> = match self.slots.get(&value) {
            Some(slots) => slots.iter().map(|&slot| self.take(slot)).collect(),
            None => self.constant(value),
        };
        if value.is_instruction() {
            self.current.insert(value, parts.clone());
        }
        parts
    }

    fn take(&self, slot: Slot<'m>) -> Part<'m> {
        let load = |slot: Value<'m>, align| self.b.load(slot.allocated_type(), slot, align);
        match slot {
            Slot::Uniform(slot) => Part::Uniform(load(slot, 8)),
            Slot::Ramp { base, stride, lanes } => {
                Part::Ramp { base: load(base, 8), stride, lanes: lanes.map(|slot| load(slot, 64)) }
            }
            Slot::Lanes(slot) => Part::Lanes(load(slot, 64)),
        }
    }
}

pub(super) fn phis(block: Block) -> Vec<Value> {
    block.instructions().into_iter().take_while(|instruction| instruction.opcode() == Opcode::LLVMPHI).collect()
}
