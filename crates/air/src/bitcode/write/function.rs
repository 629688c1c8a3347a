//! The body of a function in LLVM 14's form: the same instructions, and casts where a pointer has another type than its
//! use needs. A cast stands before the use; for a phi, at the end of the block that it comes from.

use super::attributes::Attributes;
use super::body::{Body, Instruction, Op};
use super::codes::{block, inst, metadata as code};
use super::constants::{ConstantRef, Constants, Module};
use super::encode::{Encoder, Numbers};
use super::input::signature;
use super::intrinsics;
use super::metadata;
use super::stream::Stream;
use super::tree::Block;
use super::types::{Type, TypeId, Types};
use super::{Result, missing};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A value of the function that is written, before values have numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueRef {
    Constant(ConstantRef),
    /// A parameter or the result of an instruction, by its place among the values of the function in LLVM 22.
    Local(u32),
    /// A cast that was inserted, by its place among them.
    Cast(usize),
    /// A node of metadata as an argument.
    Metadata(u32),
}

/// An instruction to be written.
pub(super) enum Step<'a> {
    /// A cast, with its place among them.
    Cast {
        value: ValueRef,
        to: TypeId,
        place: usize,
    },
    Original(Placed<'a>),
}

/// An instruction of LLVM 22 with its new operands.
pub(super) struct Placed<'a> {
    pub(super) instruction: &'a Instruction,
    /// The place of its result among the values of the function.
    pub(super) local: u32,
    pub(super) operands: Vec<ValueRef>,
    pub(super) bundles: Vec<Vec<ValueRef>>,
    /// A call: the function's type, and the list of attributes.
    pub(super) callee: Option<(TypeId, u64)>,
}

/// Writes one function.
pub(super) struct Writer<'a> {
    types: &'a mut Types,
    attributes: &'a mut Attributes,
    module: Module<'a>,
    body: &'a Body<'a>,
    /// The types of the function's own values in LLVM 14.
    locals: &'a [TypeId],
    /// The type that the function returns.
    result: TypeId,
    constants: Constants,
    /// The type of each cast.
    casts: Vec<TypeId>,
    steps: Vec<Step<'a>>,
    /// Casts of the block at hand, which later instructions use again.
    known: FxHashMap<(u32, TypeId), usize>,
    /// For each block, the casts at its end.
    at_end: FxHashMap<u64, Vec<(u32, TypeId, usize)>>,
}

impl<'a> Writer<'a> {
    /// For a function of the type `ty`; `locals` are the types of its own values.
    pub(super) fn new(
        types: &'a mut Types,
        attributes: &'a mut Attributes,
        module: Module<'a>,
        body: &'a Body<'a>,
        locals: &'a [TypeId],
        ty: TypeId,
    ) -> Result<Writer<'a>> {
        let (result, ..) = signature(types, ty)?;
        Ok(Writer {
            types,
            attributes,
            module,
            body,
            locals,
            result,
            constants: Constants::default(),
            casts: Vec::new(),
            steps: Vec::new(),
            known: FxHashMap::default(),
            at_end: FxHashMap::default(),
        })
    }

    /// Writes the block of the function, whose first value has the number `first`. Adds the kinds of metadata that its
    /// instructions have.
    pub(super) fn write(mut self, stream: &mut Stream, first: u32, kinds: &mut BTreeSet<u64>) -> Result<()> {
        self.place_phis();
        self.place_all()?;
        let Writer { types, module, body, locals, mut constants, casts, steps, .. } = self;
        let records = body.metadata.map_or(&[][..], |block| &block.records[..]);
        for record in records.iter().filter(|record| record.code == code::VALUE) {
            if let Some(value) =
                record.operands.get(1).map(|value| *value as u32).filter(|value| !is_own(body, *value))
            {
                constants.get(module, types, value, None)?;
            }
        }
        let parameters = body.first_constant - body.first_parameter;
        let constant_count = constants.finish(first + parameters, types);
        let first_instruction = first + parameters + constant_count;
        let numbers = Numbers::assign(&steps, locals.len(), casts.len(), (first, parameters, first_instruction));

        stream.enter(block::FUNCTION);
        stream.record(inst::DECLAREBLOCKS, &[body.block_count]);
        constants.write(stream, types);
        metadata::write(stream, types, records, |types, value| match is_own(body, value) {
            true => {
                let local = (value - body.first_parameter) as usize;
                Ok((numbers.locals[local], locals[local]))
            }
            false => {
                let (constant, ty) = constants.get(module, types, value, None)?;
                Ok((constants.number(constant), ty))
            }
        })?;
        Encoder { types, constants: &constants, locals, casts: &casts, numbers: &numbers, next: first_instruction }
            .write(stream, &steps)?;
        if let Some(attachments) = body.attachments {
            write_attachments(stream, attachments, &steps, kinds);
        }
        stream.leave();
        Ok(())
    }

    /// Inserts the casts that phis need, at the ends of blocks.
    fn place_phis(&mut self) {
        for (instruction, local) in placed(self.body) {
            let Op::Phi { blocks, .. } = &instruction.op else { continue };
            let ty = self.locals[local as usize];
            for (operand, block) in instruction.operands.iter().zip(blocks) {
                if !is_own(self.body, *operand) || self.type_of(*operand) == ty {
                    continue;
                }
                let casts = self.at_end.entry(*block).or_default();
                if !casts.iter().any(|(value, to, _)| value == operand && *to == ty) {
                    casts.push((*operand, ty, self.casts.len()));
                    self.casts.push(ty);
                }
            }
        }
    }

    fn place_all(&mut self) -> Result<()> {
        let mut block = 0;
        for (instruction, local) in placed(self.body) {
            let is_terminator =
                matches!(instruction.op, Op::Return | Op::Branch(_) | Op::Switch { .. } | Op::Unreachable);
            let step = self.place(instruction, local)?;
            if is_terminator {
                for (value, to, place) in self.at_end.get(&block).cloned().unwrap_or_default() {
                    check_cast(self.types, self.type_of(value), to)?;
                    let value = self.own(value);
                    self.steps.push(Step::Cast { value, to, place });
                }
                block += 1;
                self.known.clear();
            }
            self.steps.push(Step::Original(step));
        }
        Ok(())
    }

    /// The type in LLVM 14 of a value of the function.
    fn type_of(&self, value: u32) -> TypeId {
        self.locals[(value - self.body.first_parameter) as usize]
    }

    fn own(&self, value: u32) -> ValueRef {
        ValueRef::Local(value - self.body.first_parameter)
    }

    /// A value with this type, or with the one that it has.
    fn value(&mut self, value: u32, expected: Option<TypeId>) -> Result<ValueRef> {
        if !is_own(self.body, value) {
            return Ok(ValueRef::Constant(self.constants.get(self.module, self.types, value, expected)?.0));
        }
        let ty = self.type_of(value);
        let Some(to) = expected.filter(|expected| *expected != ty) else { return Ok(self.own(value)) };
        if let Some(place) = self.known.get(&(value, to)) {
            return Ok(ValueRef::Cast(*place));
        }
        check_cast(self.types, ty, to)?;
        let place = self.casts.len();
        self.casts.push(to);
        self.known.insert((value, to), place);
        let from = self.own(value);
        self.steps.push(Step::Cast { value: from, to, place });
        Ok(ValueRef::Cast(place))
    }

    fn values(&mut self, values: &[u32], expected: Option<TypeId>) -> Result<Vec<ValueRef>> {
        values.iter().map(|value| self.value(*value, expected)).collect()
    }

    /// The type of a value in LLVM 22.
    fn old_type(&self, value: u32) -> Result<TypeId> {
        if is_own(self.body, value) {
            return Ok(self.body.local_types[(value - self.body.first_parameter) as usize]);
        }
        match self.module.input.opaque_pointers.get(value as usize) {
            Some(pointer) => Ok(*pointer),
            None => {
                self.module.input.constant(value, Some(self.body)).map(|one| one.ty).ok_or_else(|| missing("value"))
            }
        }
    }

    /// A value whose pointers, if there are any in it, point to bytes.
    fn default(&mut self, value: u32) -> Result<ValueRef> {
        let ty = self.old_type(value)?;
        let ty = self.types.typed(ty);
        self.value(value, Some(ty))
    }

    /// A pointer, or a vector of them, to this type.
    fn pointer_to(&mut self, value: u32, pointee: TypeId) -> Result<ValueRef> {
        let ty = self.old_type(value)?;
        let space = self.types.pointer_space(ty).ok_or_else(|| missing("pointer"))?;
        let pointer = self.types.pointer(pointee, space);
        let pointer = self.types.like(ty, pointer);
        self.value(value, Some(pointer))
    }

    /// An instruction, after the casts that it needs.
    fn place(&mut self, instruction: &'a Instruction, local: u32) -> Result<Placed<'a>> {
        let old = &instruction.operands;
        let result = instruction.ty.map(|_| self.locals[local as usize]);
        let mut callee = None;
        let operands = match &instruction.op {
            Op::Unary { .. } | Op::Binary { .. } | Op::Cast { .. } | Op::Branch(_) => self.values(old, None)?,
            Op::Switch { cases, .. } => {
                let mut all = self.values(old, None)?;
                for (value, _) in cases {
                    all.push(self.value(*value, None)?);
                }
                all
            }
            Op::Alloca { .. } | Op::Fence(_) | Op::Unreachable => self.values(old, None)?,
            Op::ElementPointer { element, .. } => {
                let element = self.types.typed(*element);
                let mut all = vec![self.pointer_to(old[0], element)?];
                all.extend(self.values(&old[1..], None)?);
                all
            }
            Op::Freeze => self.values(old, result)?,
            Op::Select { .. } => {
                let mut all = self.values(&old[..2], result)?;
                all.push(self.value(old[2], None)?);
                all
            }
            Op::Phi { blocks, .. } => self.phi(old, blocks, result)?,
            Op::Compare { .. } => {
                let ty = self.compared(old)?;
                self.values(old, ty)?
            }
            Op::Return => {
                let result = self.result;
                self.values(old, Some(result))?
            }
            Op::ExtractElement | Op::InsertElement | Op::Shuffle | Op::ExtractValue(_) | Op::InsertValue(_) => {
                old.iter().map(|value| self.default(*value)).collect::<Result<_>>()?
            }
            Op::Load { .. } => {
                let ty = result.ok_or_else(|| missing("type"))?;
                vec![self.pointer_to(old[0], ty)?]
            }
            Op::Store { .. } => self.store(old)?,
            Op::CompareExchange { .. } | Op::ReadModifyWrite { .. } => {
                let ty = self.old_type(old[1])?;
                let ty = self.types.typed(ty);
                let mut all = vec![self.pointer_to(old[0], ty)?];
                all.extend(self.values(&old[1..], Some(ty))?);
                all
            }
            Op::Call { attributes, ty, .. } => {
                let (ty, attributes, all) = self.call(old, *ty, *attributes)?;
                callee = Some((ty, attributes));
                all
            }
        };
        let bundles =
            instruction.bundles.iter().map(|(_, values)| self.values(values, None)).collect::<Result<_>>()?;
        Ok(Placed { instruction, local, operands, bundles, callee })
    }

    fn phi(&mut self, old: &[u32], blocks: &[u64], result: Option<TypeId>) -> Result<Vec<ValueRef>> {
        let ty = result.ok_or_else(|| missing("type"))?;
        let mut all = Vec::with_capacity(old.len());
        for (value, block) in old.iter().zip(blocks) {
            let casts = self.at_end.get(block).map_or(&[][..], |casts| &casts[..]);
            let cast = casts.iter().find(|(from, to, _)| from == value && *to == ty);
            let needs_cast = is_own(self.body, *value) && self.type_of(*value) != ty;
            all.push(match cast.filter(|_| needs_cast) {
                Some((_, _, place)) => ValueRef::Cast(*place),
                None => self.value(*value, Some(ty))?,
            });
        }
        Ok(all)
    }

    /// The type for both sides of a comparison of pointers: that of a value of the function if there is one.
    fn compared(&mut self, old: &[u32]) -> Result<Option<TypeId>> {
        let ty = self.old_type(old[0])?;
        if self.types.pointer_space(ty).is_none() {
            return Ok(None);
        }
        let own = old.iter().find(|value| is_own(self.body, **value));
        Ok(Some(match own {
            Some(value) => self.type_of(*value),
            None => self.types.typed(ty),
        }))
    }

    /// A pointer that is stored takes the type that its variable holds.
    fn store(&mut self, old: &[u32]) -> Result<Vec<ValueRef>> {
        let ty = self.old_type(old[1])?;
        let default = self.types.typed(ty);
        let held = is_own(self.body, old[0]).then(|| self.types.pointee(self.type_of(old[0]))).flatten();
        let ty = match held {
            Some(held) if self.types.is_pointer(ty) && self.types.is_pointer(held) => {
                let same_space = self.types.pointer_space(held) == self.types.pointer_space(ty);
                if same_space { held } else { default }
            }
            _ => default,
        };
        Ok(vec![self.pointer_to(old[0], ty)?, self.value(old[1], Some(ty))?])
    }

    /// The type of the function, the attributes, and callee and arguments.
    fn call(&mut self, old: &[u32], ty: TypeId, attributes: u64) -> Result<(TypeId, u64, Vec<ValueRef>)> {
        let (_, old_parameters, _) = signature(self.types, ty)?;
        let function = self.module.input.globals.get(old[0] as usize).filter(|one| one.is_function && one.ty == ty);
        let new = match function {
            Some(_) => self.module.globals[old[0] as usize],
            None => self.types.typed(ty),
        };
        let mut all = vec![self.pointer_to(old[0], new)?];
        let (_, parameters, _) = signature(self.types, new)?;
        let (mut attributes, mut parameters) = (attributes, &parameters[..]);
        if function.is_some_and(|one| intrinsics::is_lifetime(&one.name)) && old_parameters.len() == 1 {
            let size = self.lifetime_size(old[1]).unwrap_or(u64::MAX);
            let long = self.types.integer(64);
            all.push(ValueRef::Constant(self.constants.integer(long, size)));
            attributes = self.attributes.with_new_first_parameter(attributes)?;
            parameters = &parameters[1..];
        }
        for (value, parameter) in old[1..].iter().zip(parameters) {
            all.push(match self.types.get(*parameter) {
                Type::Metadata => ValueRef::Metadata(*value),
                _ => self.value(*value, Some(*parameter))?,
            });
        }
        Ok((new, attributes, all))
    }

    /// The size of an alloca, if it is of one value.
    fn lifetime_size(&self, value: u32) -> Option<u64> {
        match &self.body.result(value.checked_sub(self.body.first_parameter)?)?.op {
            Op::Alloca { element, .. } => self.types.size(*element),
            _ => None,
        }
    }
}

/// The instructions of a body, each with the place of its result among the function's values.
fn placed<'a>(body: &'a Body<'a>) -> impl Iterator<Item = (&'a Instruction, u32)> {
    let mut local = body.first_instruction - body.first_parameter;
    body.instructions.iter().map(move |instruction| {
        let own = local;
        local += u32::from(instruction.ty.is_some());
        (instruction, own)
    })
}

/// True for a parameter or the result of an instruction.
fn is_own(body: &Body, value: u32) -> bool {
    value >= body.first_parameter && !(body.first_constant..body.first_instruction).contains(&value)
}

/// A cast must change nothing but what a pointer points to.
fn check_cast(types: &Types, from: TypeId, to: TypeId) -> Result<()> {
    match (types.pointer_space(from), types.pointer_space(to)) {
        (Some(from), Some(to)) if from == to => Ok(()),
        _ => Err("a value of another type than its user needs".into()),
    }
}

/// `[instruction, (kind, node)…]`, or without the instruction for the function itself.
fn write_attachments(stream: &mut Stream, block: &Block, steps: &[Step], kinds: &mut BTreeSet<u64>) {
    let mut places = steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Original(_)));
    // Instructions are numbered with those that have no result.
    let places: Vec<u64> = places.by_ref().map(|(place, _)| place as u64).collect();
    stream.enter(block::METADATA_ATTACHMENT);
    for record in &block.records {
        let mut operands = record.operands.clone();
        let is_of_instruction = operands.len() % 2 == 1;
        if is_of_instruction {
            operands[0] = places.get(operands[0] as usize).copied().unwrap_or(u64::MAX);
        }
        kinds.extend(operands.iter().skip(usize::from(is_of_instruction)).step_by(2));
        stream.record(code::ATTACHMENT, &operands);
    }
    stream.leave();
}
