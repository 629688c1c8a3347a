//! What each instruction becomes: the same on scalars where all lanes agree, and on vectors where they do not.

use super::lanes::lanes_of;
use super::memory::Access;
use super::parts::{Part, Parts};
use super::shapes::{Shape, indices, member_start, shuffle_pattern};
use super::types::{bytes, components, scalar};
use super::widen::Widener;
use super::{Error, Result, division};
use crate::ir::{IntPredicate, Opcode, Type, TypeKind, Value};
use inkwell::llvm_sys::core::{
    LLVMAddGlobal, LLVMGetIsDisjoint, LLVMSetGlobalConstant, LLVMSetInitializer, LLVMSetLinkage,
};

impl Widener<'_> {
    pub(super) fn instruction(&mut self, instruction: Value) -> Result<Parts> {
        let opcode = instruction.opcode();
        Ok(match opcode {
            Opcode::LLVMAlloca => {
                let offset = self.private.offsets[&instruction];
                vec![Part::Uniform(Type::int(self.b.context(), 32).constant(offset as i64))]
            }
            Opcode::LLVMLoad => self.load(instruction),
            Opcode::LLVMStore => {
                let (value, pointer) = (instruction.operand(0), instruction.operand(1));
                let parts = self.get(value);
                self.store(pointer, value.ty(), parts, instruction.alignment());
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
                let start = member_start(instruction.operand(0).ty(), &indices(instruction));
                let count = components(instruction.ty()).len();
                self.get(instruction.operand(0))[start..start + count].to_vec()
            }
            Opcode::LLVMInsertValue => {
                let mut parts = self.get(instruction.operand(0));
                let start = member_start(instruction.ty(), &indices(instruction));
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
            // The lanes that run share no bits; of lane 0, which a ramp begins at, that is known only when it runs.
            Opcode::LLVMOr if unsafe { LLVMGetIsDisjoint(instruction.0) != 0 } => {
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

    /// The operation for each component, on scalars or vectors as the shapes say. It is given the operands and the type of
    /// the result.
    pub(super) fn pointwise(
        &mut self,
        instruction: Value,
        operation: impl Fn(&Self, &[Value], Type) -> Value,
    ) -> Parts {
        let operands: Vec<Parts> = instruction.operands().into_iter().map(|operand| self.get(operand)).collect();
        self.pointwise_on(instruction, &operands, operation)
    }

    pub(super) fn pointwise_on(
        &mut self,
        instruction: Value,
        operands: &[Parts],
        operation: impl Fn(&Self, &[Value], Type) -> Value,
    ) -> Parts {
        let flags = instruction.fast_math();
        let operation = |values: &[Value], ty: Type| {
            let value = operation(self, values, ty);
            if let Some(flags) = flags {
                value.set_fast_math(flags);
            }
            value
        };
        let types = components(instruction.ty());
        let shapes = self.shapes.of(instruction);
        let one = |(i, (ty, shape)): (usize, (Type, Shape))| {
            let parts: Vec<Part> =
                operands.iter().map(|parts| parts[if parts.len() == 1 { 0 } else { i }]).collect();
            let on_bases = || {
                let bases: Vec<Value> = parts.iter().filter_map(|part| part.base()).collect();
                (bases.len() == parts.len()).then(|| operation(&bases, ty))
            };
            let on_lanes = || {
                let lanes: Vec<Value> = parts.iter().map(|part| part.lanes(&self.b)).collect();
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

    /// An unsigned number that may wrap around between two lanes: what is an address in the end lies after the wrap, so
    /// there the ramp begins below zero.
    fn zero_extend(&mut self, instruction: Value) -> Parts {
        let shapes = self.shapes.of(instruction);
        let parts = self.pointwise(instruction, |w, values, to| w.b.zext(values[0], to));
        let narrow = self.get(instruction.operand(0));
        let fix = |((part, shape), narrow): ((Part, Shape), Part)| match (part, shape, narrow) {
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

    fn select(&mut self, instruction: Value) -> Parts {
        let operands: Vec<Parts> = instruction.operands().into_iter().map(|operand| self.get(operand)).collect();
        let uniform = operands[0].len() == 1 && operands[0][0].uniform().is_some();
        if !uniform {
            return self
                .pointwise_on(instruction, &operands, |w, values, _| w.b.select(values[0], values[1], values[2]));
        }
        // One condition for all lanes: no vector of it is needed.
        let Part::Uniform(condition) = operands[0][0] else { unreachable!("asked above") };
        self.pointwise_on(instruction, &operands[1..], |w, values, _| w.b.select(condition, values[0], values[1]))
    }

    fn pointer_cast(&mut self, instruction: Value) -> Parts {
        let opcode = instruction.opcode();
        let from = scalar(instruction.operand(0).ty());
        let private = from.is_int() && components(instruction.ty())[0].is_int();
        self.pointwise(instruction, |w, values, to| {
            if private { super::lanes::resize(&w.b, values[0], to) } else { w.b.cast(opcode, values[0], to) }
        })
    }

    fn extract_element(&mut self, instruction: Value) -> Parts {
        let (parts, index) = (self.get(instruction.operand(0)), instruction.operand(1));
        if let Some(index) = index.as_int() {
            let anything = Part::Uniform(scalar(instruction.ty()).poison());
            return vec![parts.get(index as usize).copied().unwrap_or(anything)];
        }
        let index = self.get(index)[0];
        let uniform = self.shapes.of(instruction)[0].is_uniform();
        let pick = |part: Part| if uniform { part.base() } else { Some(part.lanes(&self.b)) };
        let at = pick(index).unwrap_or_else(|| index.lanes(&self.b));
        let mut found = pick(parts[0]).unwrap_or_else(|| parts[0].lanes(&self.b));
        for (i, part) in parts.iter().enumerate().skip(1) {
            let part = pick(*part).unwrap_or_else(|| part.lanes(&self.b));
            let here = self.b.icmp(IntPredicate::LLVMIntEQ, at, at.ty().constant(i as i64));
            found = self.b.select(here, part, found);
        }
        vec![if uniform { Part::Uniform(found) } else { Part::Lanes(found) }]
    }

    fn insert_element(&mut self, instruction: Value) -> Parts {
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
        let one = |(i, part): (usize, Part)| {
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
    fn bitcast(&mut self, instruction: Value) -> Result<Parts> {
        let parts = self.get(instruction.operand(0));
        let (from, to) = (components(instruction.operand(0).ty()), components(instruction.ty()));
        if from.len() == to.len() {
            return Ok(self.pointwise(instruction, |w, values, ty| w.b.bitcast(values[0], ty)));
        }
        let uniform = self.shapes.of(instruction).iter().all(|shape| shape.is_uniform());
        let values: Vec<Value> = parts
            .iter()
            .map(|part| part.base().filter(|_| uniform).unwrap_or_else(|| part.lanes(&self.b)))
            .collect();
        let wrap = |value| if uniform { Part::Uniform(value) } else { Part::Lanes(value) };
        let bits = |ty: Type| if ty.is_int() { ty.int_bits() } else { bytes(ty) as u32 * 8 };
        let (small, large) = (bits(from[0]).min(bits(to[0])), bits(from[0]).max(bits(to[0])));
        if large % small != 0 {
            return Err(Error::Unsupported(format!("the cast '{}'", instruction.text().trim())));
        }
        let (context, count) = (self.b.context(), (large / small) as usize);
        let shaped = |ty: Type| if uniform { ty } else { lanes_of(ty) };
        let (small, large) = (shaped(Type::int(context, small)), shaped(Type::int(context, large)));
        let b = &self.b;
        let step = i64::from(small.scalar().int_bits());
        Ok(if from.len() > to.len() {
            let join = |(pieces, ty): (&[Value], &Type)| {
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

    fn address(&mut self, instruction: Value) -> Part {
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
            // What is uniform is added to a scalar as long as there is one.
            let mut total = pointer.uniform().unwrap_or_else(|| pointer.lanes(&w.b));
            for (index, scale) in terms.iter().filter(|(index, _)| index.uniform().is_some()) {
                total = w.step(total, index.uniform().unwrap_or_else(|| index.lanes(&w.b)), *scale, private);
            }
            for (index, scale) in terms.iter().filter(|(index, _)| index.uniform().is_none()) {
                total = w.step(total, index.lanes(&w.b), *scale, private);
            }
            if total.ty().is_vector() { total } else { super::lanes::splat(&w.b, total) }
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
    fn address_terms(&mut self, instruction: Value) -> Vec<(Part, i64)> {
        let int = Type::int(self.b.context(), 64);
        let mut terms = Vec::new();
        let mut stepped = instruction.source_element_type();
        for (position, index) in instruction.operands().into_iter().skip(1).enumerate() {
            if position > 0 && stepped.kind() == TypeKind::LLVMStructTypeKind {
                let member = index.as_int().unwrap_or(0) as u32;
                let offset = self.layout.offset(stepped, member) as i64;
                terms.push((Part::Uniform(int.constant(offset)), 1));
                stepped = stepped.members()[member as usize];
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
    fn step(&self, pointer: Value, index: Value, scale: i64, private: bool) -> Value {
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
            (true, false) => b.add(pointer, super::lanes::splat(b, bytes)),
            (false, true) => b.add(super::lanes::splat(b, pointer), bytes),
            _ => b.add(pointer, bytes),
        }
    }

    fn load(&mut self, instruction: Value) -> Parts {
        let (pointer, ty) = (instruction.operand(0), instruction.ty());
        let types = components(ty);
        let offsets = self.layout.offsets(ty);
        let at = self.get(pointer)[0];
        if self.is_private(pointer, at) {
            let frame = self.private.frame_of(pointer);
            return types
                .iter()
                .zip(offsets)
                .map(|(&ty, offset)| self.load_private(frame, at, offset, ty))
                .collect();
        }
        const CONSTANT: u32 = 2;
        let is_constant = pointer.ty().address_space() == CONSTANT;
        Access { is_constant, ..self.access(at, &offsets, instruction.alignment()) }.load(&types)
    }

    pub(super) fn store(&mut self, pointer: Value, ty: Type, parts: Parts, align: u32) {
        let offsets = self.layout.offsets(ty);
        let at = self.get(pointer)[0];
        if self.is_private(pointer, at) {
            let frame = self.private.frame_of(pointer);
            for (part, offset) in parts.into_iter().zip(offsets) {
                self.store_private(frame, at, offset, part);
            }
            return;
        }
        if !parts.is_empty() {
            self.access(at, &offsets, align).store(&parts);
        }
    }

    /// Pointers into thread memory are offsets, but for those to the program's constants.
    pub(super) fn is_private(&self, pointer: Value, at: Part) -> bool {
        pointer.ty().address_space() == 0 && pointer_is_offset(at)
    }

    /// The components of a constant, or of what is not known here.
    pub(super) fn constant(&mut self, value: Value) -> Parts {
        let types = components(value.ty());
        if value.is_undef() || (value.ty().is_pointer() && value.is_null()) {
            let zero = |ty: &Type| if value.is_undef() { ty.poison() } else { ty.zero() };
            return types.iter().map(|ty| Part::Uniform(zero(ty))).collect();
        }
        if value.is_global_variable() {
            return vec![Part::Uniform(self.global(value))];
        }
        if value.is_constant_expression() {
            return self.instruction(value).unwrap_or_else(|_| vec![Part::Uniform(types[0].poison()); types.len()]);
        }
        match value.ty().kind() {
            TypeKind::LLVMVectorTypeKind | TypeKind::LLVMArrayTypeKind | TypeKind::LLVMStructTypeKind => {
                let mut parts = Vec::new();
                let mut index = 0;
                while parts.len() < types.len() {
                    match value.constant_element(index) {
                        Some(element) => parts.extend(self.constant(element)),
                        None => parts.push(Part::Uniform(types[parts.len()].poison())),
                    }
                    index += 1;
                }
                parts
            }
            TypeKind::LLVMBFloatTypeKind => vec![Part::Uniform(self.b.bitcast(value, types[0]))],
            _ => vec![Part::Uniform(value)],
        }
    }

    /// The address of a global: a threadgroup variable lies in the threadgroup's memory, a constant is copied.
    fn global(&mut self, global: Value) -> Value {
        if let Some(&offset) = self.entry.threadgroup_variables.get(&global) {
            let offset = Type::int(self.b.context(), 64).constant(i64::from(offset));
            return self.b.offset(self.entry.threadgroup_memory, offset);
        }
        if let Some(&copy) = self.globals.get(&global) {
            return copy;
        }
        let ty = global.global_type();
        let copy = unsafe {
            let copy = Value(LLVMAddGlobal(self.b.module.0, ty.0, c"constant".as_ptr()));
            LLVMSetInitializer(copy.0, global.initializer().unwrap_or_else(|| ty.zero()).0);
            LLVMSetGlobalConstant(copy.0, 1);
            LLVMSetLinkage(copy.0, inkwell::llvm_sys::LLVMLinkage::LLVMPrivateLinkage);
            copy
        };
        copy.set_alignment(global.alignment().max(16));
        self.globals.insert(global, copy);
        copy
    }
}

/// A pointer to private memory is kept as a number.
fn pointer_is_offset(part: Part) -> bool {
    super::memory::part_type(part).is_int()
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
