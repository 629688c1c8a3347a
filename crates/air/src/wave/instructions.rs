//! Instructions: the same on scalars where all lanes agree, and on vectors where they do not.

use super::lanes::lanes_of;
use super::parts::{Part, Parts};
use super::shapes::{Shape, member_start, shuffle_pattern};
use super::types::{components, scalar};
use super::widen::Widener;
use super::{Error, Result, division};
use crate::ir::{IntPredicate, Opcode, Type, Value};

impl<'m> Widener<'_, 'm> {
    pub(super) fn instruction(&mut self, instruction: Value<'m>) -> Result<Parts<'m>> {
        let opcode = instruction.opcode();
        Ok(match opcode {
            Opcode::LLVMAlloca => {
                let offset = self.private.offsets[&instruction];
                vec![Part::Uniform(Type::int(self.b.context(), 32).constant(offset as i64))]
            }
            Opcode::LLVMLoad => self.load(instruction),
            Opcode::LLVMStore => {
                self.store(instruction);
                Vec::new()
            }
            Opcode::LLVMGetElementPtr => vec![self.address(instruction)],
            Opcode::LLVMCall => self.call(instruction)?,
            Opcode::LLVMExtractElement => self.extract_element(instruction),
            Opcode::LLVMInsertElement => self.insert_element(instruction),
            Opcode::LLVMShuffleVector => {
                let sides = [self.get(instruction.operand(0)), self.get(instruction.operand(1))];
                let ty = scalar(instruction.ty().element());
                let anything = Part::Uniform(ty.poison());
                shuffle_pattern(instruction)
                    .into_iter()
                    .map(|pick| pick.map_or(anything, |(side, at)| sides[side][at]))
                    .collect()
            }
            Opcode::LLVMExtractValue => {
                let start = member_start(instruction.operand(0).ty(), &instruction.indices());
                let count = components(instruction.ty()).len();
                self.get(instruction.operand(0))[start..start + count].to_vec()
            }
            Opcode::LLVMInsertValue => {
                let mut parts = self.get(instruction.operand(0));
                let start = member_start(instruction.ty(), &instruction.indices());
                for (offset, part) in self.get(instruction.operand(1)).into_iter().enumerate() {
                    parts[start + offset] = part;
                }
                parts
            }
            Opcode::LLVMBitCast => self.bitcast(instruction)?,
            Opcode::LLVMAddrSpaceCast => self.get(instruction.operand(0)),
            Opcode::LLVMZExt => self.zero_extend(instruction),
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem => {
                let mask = self.mask;
                self.pointwise(instruction, |w, values, _| division::emit(&w.b, opcode, values[0], values[1], mask))
            }
            Opcode::LLVMICmp => {
                let predicate = instruction.int_predicate();
                self.pointwise(instruction, |w, values, _| w.b.icmp(predicate, values[0], values[1]))
            }
            Opcode::LLVMFCmp => {
                let predicate = instruction.real_predicate();
                self.pointwise(instruction, |w, values, _| w.b.fcmp(predicate, values[0], values[1]))
            }
            Opcode::LLVMSelect => self.select(instruction),
            Opcode::LLVMFreeze => self.pointwise(instruction, |w, values, _| w.b.freeze(values[0])),
            Opcode::LLVMFNeg => self.pointwise(instruction, |w, values, _| w.b.fneg(values[0])),
            Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => self.pointer_cast(instruction),
            // `disjoint` holds for the lanes that run. Lane 0, at which a ramp begins, may not be one of them.
            Opcode::LLVMOr if instruction.is_disjoint() => {
                self.pointwise(instruction, |w, values, _| w.b.add(values[0], values[1]))
            }
            _ if instruction.operand_count() == 2 && is_binary(opcode) => {
                self.pointwise(instruction, |w, values, _| w.b.binary(opcode, values[0], values[1]))
            }
            _ if instruction.operand_count() == 1 && is_cast(opcode) => {
                self.pointwise(instruction, |w, values, to| w.b.cast(opcode, values[0], to))
            }
            _ => return Err(Error::Unsupported(format!("the instruction '{}'", instruction.text().trim()))),
        })
    }

    /// The operation for each component, on scalars or vectors as the shapes say. It is given the operands and the type
    /// of the result.
    pub(super) fn pointwise(
        &mut self,
        instruction: Value<'m>,
        operation: impl Fn(&Self, &[Value<'m>], Type<'m>) -> Value<'m>,
    ) -> Parts<'m> {
        let operands: Vec<Parts<'m>> =
            instruction.operands().into_iter().map(|operand| self.get(operand)).collect();
        self.pointwise_on(instruction, &operands, operation)
    }

    pub(super) fn pointwise_on(
        &mut self,
        instruction: Value<'m>,
        operands: &[Parts<'m>],
        operation: impl Fn(&Self, &[Value<'m>], Type<'m>) -> Value<'m>,
    ) -> Parts<'m> {
        let flags = instruction.fast_math();
        let operation = |values: &[Value<'m>], ty: Type<'m>| {
            let value = operation(self, values, ty);
            if let Some(flags) = flags {
                value.set_fast_math(flags);
            }
            value
        };
        let types = components(instruction.ty());
        let shapes = self.shapes.of(instruction);
        let one = |(i, (ty, shape)): (usize, (Type<'m>, Shape))| {
            let parts: Vec<Part<'m>> =
                operands.iter().map(|parts| parts[if parts.len() == 1 { 0 } else { i }]).collect();
            let on_bases = || {
                let bases: Vec<Value<'m>> = parts.iter().filter_map(|part| part.base()).collect();
                (bases.len() == parts.len()).then(|| operation(&bases, ty))
            };
            let on_lanes = || {
                let lanes: Vec<Value<'m>> = parts.iter().map(|part| part.lanes(&self.b)).collect();
                operation(&lanes, lanes_of(ty))
            };
            match shape {
                shape if shape.is_uniform() => on_bases().map(Part::Uniform),
                Shape::Ramp(ramp) => on_bases().map(|base| Part::Ramp {
                    base,
                    stride: ramp.stride,
                    lanes: (!ramp.exact).then(on_lanes),
                }),
                _ => None,
            }
            .unwrap_or_else(|| Part::Lanes(on_lanes()))
        };
        types.into_iter().zip(shapes).enumerate().map(one).collect()
    }

    /// Extends a ramp of unsigned numbers, which may wrap around between two lanes. Addresses made from it lie after
    /// the wrap, so the ramp for addresses begins below zero.
    fn zero_extend(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let shapes = self.shapes.of(instruction);
        let parts = self.pointwise(instruction, |w, values, to| w.b.zext(values[0], to));
        let narrow = self.get(instruction.operand(0));
        let fix = |((part, shape), narrow): ((Part<'m>, Shape), Part<'m>)| match (part, shape, narrow) {
            (
                Part::Ramp { base, stride, lanes: lanes @ Some(_) },
                Shape::Ramp(_),
                Part::Ramp { base: small, lanes: None, .. },
            ) if stride > 0 => {
                let b = &self.b;
                let (bits, wide) = (small.ty().int_bits(), base.ty());
                let last = small.ty().constant(stride.wrapping_mul(-31).wrapping_sub(1));
                let wraps = b.icmp(IntPredicate::LLVMIntUGT, small, last);
                let below = b.sub(base, wide.constant(1i64 << bits.min(62)));
                Part::Ramp { base: b.select(wraps, below, base), stride, lanes }
            }
            _ => part,
        };
        parts.into_iter().zip(shapes).zip(narrow).map(fix).collect()
    }

    fn select(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let operands: Vec<Parts<'m>> =
            instruction.operands().into_iter().map(|operand| self.get(operand)).collect();
        let uniform = operands[0].len() == 1 && operands[0][0].uniform().is_some();
        if !uniform {
            return self
                .pointwise_on(instruction, &operands, |w, values, _| w.b.select(values[0], values[1], values[2]));
        }
        // One condition for all lanes: no vector of it is needed.
        let Part::Uniform(condition) = operands[0][0] else { unreachable!("asked above") };
        self.pointwise_on(instruction, &operands[1..], |w, values, _| w.b.select(condition, values[0], values[1]))
    }

    fn pointer_cast(&mut self, instruction: Value<'m>) -> Parts<'m> {
        let opcode = instruction.opcode();
        let from = scalar(instruction.operand(0).ty());
        let private = from.is_int() && components(instruction.ty())[0].is_int();
        self.pointwise(instruction, |w, values, to| {
            if private { super::lanes::resize(&w.b, values[0], to) } else { w.b.cast(opcode, values[0], to) }
        })
    }
}

fn is_binary(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMLShr
            | LLVMAShr
            | LLVMAnd
            | LLVMOr
            | LLVMXor
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
    )
}

fn is_cast(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LLVMTrunc | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP | LLVMFPTrunc | LLVMFPExt
    )
}
