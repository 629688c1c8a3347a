//! The body of a function as LLVM 22 writes it: instructions with their operands as numbers of values.

use super::codes::{block, inst};
use super::input::{self, Constant, signature};
use super::tree::{Block, Record};
use super::types::{Type, TypeId, Types};
use super::{Result, missing};

pub(super) struct Body<'a> {
    pub(super) block_count: u64,
    /// The numbers of the function's own values: parameters, constants, instructions with a result.
    pub(super) first_parameter: u32,
    pub(super) first_constant: u32,
    pub(super) first_instruction: u32,
    pub(super) constants: Vec<Constant>,
    pub(super) instructions: Vec<Instruction>,
    /// The places of instructions with a result.
    results: Vec<usize>,
    /// Types of the function's own values: of LLVM 22.
    pub(super) local_types: Vec<TypeId>,
    pub(super) metadata: Option<&'a Block>,
    pub(super) attachments: Option<&'a Block>,
}

pub(super) struct Instruction {
    pub(super) op: Op,
    /// Values; for a call the callee first, and the node in place of an argument that is metadata.
    pub(super) operands: Vec<u32>,
    /// The type of the result in LLVM 22; none for `void`.
    pub(super) ty: Option<TypeId>,
    /// Tags and values.
    pub(super) bundles: Vec<(u64, Vec<u32>)>,
    /// The operands of the record with its place in the source.
    pub(super) location: Option<Vec<u64>>,
}

/// An instruction without its operands. Flags and alignments are those of the records.
pub(super) enum Op {
    Unary {
        opcode: u64,
        flags: Option<u64>,
    },
    Binary {
        opcode: u64,
        flags: Option<u64>,
    },
    Cast {
        opcode: u64,
    },
    ElementPointer {
        inbounds: bool,
        element: TypeId,
    },
    Select {
        flags: Option<u64>,
    },
    ExtractElement,
    InsertElement,
    Shuffle,
    Compare {
        predicate: u64,
        flags: Option<u64>,
    },
    Return,
    Branch(Vec<u64>),
    /// The cases are a constant and a block each.
    Switch {
        ty: TypeId,
        default: u64,
        cases: Vec<(u32, u64)>,
    },
    Unreachable,
    Phi {
        blocks: Vec<u64>,
        flags: Option<u64>,
    },
    Alloca {
        element: TypeId,
        count: TypeId,
        flags: u64,
    },
    Load {
        ty: TypeId,
        rest: Vec<u64>,
    },
    Store {
        rest: Vec<u64>,
    },
    CompareExchange {
        rest: Vec<u64>,
    },
    ReadModifyWrite {
        rest: Vec<u64>,
    },
    Fence(Vec<u64>),
    Call {
        attributes: u64,
        flags: u64,
        math: Option<u64>,
        ty: TypeId,
    },
    ExtractValue(Vec<u64>),
    InsertValue(Vec<u64>),
    Freeze,
}

/// A call has flags for floating-point numbers.
pub(super) const CALL_HAS_MATH: u64 = 1 << 17;
const CALL_HAS_TYPE: u64 = 1 << 15;
const ALLOCA_HAS_TYPE: u64 = 1 << 6;

impl<'a> Body<'a> {
    /// The instruction with this result, by its place among the function's own values.
    pub(super) fn result(&self, local: u32) -> Option<&Instruction> {
        let place = (local + self.first_parameter).checked_sub(self.first_instruction)?;
        self.instructions.get(*self.results.get(place as usize)?)
    }

    /// `module_values` are the types of the module's values.
    pub(super) fn read(
        types: &mut Types,
        module_values: &[TypeId],
        ty: TypeId,
        block: &'a Block,
    ) -> Result<Body<'a>> {
        let (_, parameters, _) = signature(types, ty)?;
        let first_parameter = module_values.len() as u32;
        let constants = match block.block(block::CONSTANTS) {
            Some(block) => input::constants(block, types)?,
            None => Vec::new(),
        };
        let first_constant = first_parameter + parameters.len() as u32;
        let mut local_types = parameters;
        local_types.extend(constants.iter().map(|constant| constant.ty));
        let mut reader =
            Reader { types, module_values, local_types, instructions: Vec::new(), last: None, bundles: Vec::new() };
        let mut block_count = 0;
        for record in &block.records {
            match record.code {
                inst::DECLAREBLOCKS => block_count = record.operands.first().copied().unwrap_or(0),
                _ => reader.record(record)?,
            }
        }
        reader.check()?;
        for inner in &block.blocks {
            match inner.id {
                block::CONSTANTS | block::METADATA | block::METADATA_ATTACHMENT | block::VALUE_SYMTAB => {}
                id => return Err(format!("a block {id} in a function")),
            }
        }
        Ok(Body {
            block_count,
            first_parameter,
            first_constant,
            first_instruction: first_constant + constants.len() as u32,
            constants,
            results: (0..reader.instructions.len()).filter(|at| reader.instructions[*at].ty.is_some()).collect(),
            instructions: reader.instructions,
            local_types: reader.local_types,
            metadata: block.block(block::METADATA),
            attachments: block.block(block::METADATA_ATTACHMENT),
        })
    }
}

struct Reader<'a> {
    types: &'a mut Types,
    module_values: &'a [TypeId],
    local_types: Vec<TypeId>,
    instructions: Vec<Instruction>,
    /// The location that was written last.
    last: Option<Vec<u64>>,
    /// For the call that follows.
    bundles: Vec<(u64, Vec<u32>)>,
}

/// The operands of a record that are still to be read.
struct Rest<'a>(&'a [u64]);

impl Rest<'_> {
    fn next(&mut self) -> Result<u64> {
        self.optional().ok_or_else(|| missing("operand"))
    }

    fn optional(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn all(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.0).to_vec()
    }
}

impl Reader<'_> {
    /// The number of the next instruction's result.
    fn next_value(&self) -> u32 {
        (self.module_values.len() + self.local_types.len()) as u32
    }

    fn type_of(&self, value: u32) -> Result<TypeId> {
        let value = value as usize;
        let own = value.checked_sub(self.module_values.len());
        let ty = own.map_or_else(|| self.module_values.get(value), |own| self.local_types.get(own));
        ty.copied().ok_or_else(|| missing("value"))
    }

    /// A value whose type is known: numbers count backwards from the instruction.
    fn value(&self, rest: &mut Rest) -> Result<u32> {
        Ok(self.next_value().wrapping_sub(rest.next()? as u32))
    }

    /// A value, and its type, which is there if the value comes later.
    fn typed_value(&self, rest: &mut Rest) -> Result<(u32, TypeId)> {
        let value = self.value(rest)?;
        let ty = if value >= self.next_value() { self.types.numbered(rest.next()?)? } else { self.type_of(value)? };
        Ok((value, ty))
    }

    fn record(&mut self, record: &Record) -> Result<()> {
        let mut rest = Rest(&record.operands);
        match record.code {
            inst::DEBUG_LOC => {
                // [line, column, scope, inlined at, is implicit]; LLVM 22 has more.
                self.last = Some(record.operands.iter().copied().take(5).collect());
                return self.locate();
            }
            inst::DEBUG_LOC_AGAIN => return self.locate(),
            inst::OPERAND_BUNDLE => {
                let tag = rest.next()?;
                let mut values = Vec::new();
                while !rest.0.is_empty() {
                    // Metadata in a bundle is marked by a number that no value has.
                    if rest.0[0] == 0x8000_0000 {
                        return Err("metadata in an operand bundle".into());
                    }
                    values.push(self.typed_value(&mut rest)?.0);
                }
                self.bundles.push((tag, values));
                return Ok(());
            }
            _ => {}
        }
        let (op, operands, ty) = self.instruction(record.code, &mut rest)?;
        if !rest.0.is_empty() {
            return Err(format!("an instruction of kind {} with more operands than known", record.code));
        }
        let ty = ty.filter(|ty| *self.types.get(*ty) != Type::Void);
        self.local_types.extend(ty);
        let bundles = std::mem::take(&mut self.bundles);
        self.instructions.push(Instruction { op, operands, ty, bundles, location: None });
        Ok(())
    }

    /// Every operand must be a value, or code after this would have to ask each time.
    fn check(&self) -> Result<()> {
        let is_value = |value: &u32| *value < self.next_value();
        for Instruction { op, operands, bundles, .. } in &self.instructions {
            let fine = match op {
                Op::Switch { cases, .. } => cases.iter().all(|(value, _)| is_value(value)),
                // An argument may be metadata.
                Op::Call { ty, .. } => {
                    let (_, parameters, _) = signature(self.types, *ty)?;
                    let is_metadata = |at: usize| *self.types.get(parameters[at]) == Type::Metadata;
                    let mut arguments = operands[1..].iter().enumerate();
                    if !arguments.all(|(at, value)| is_metadata(at) || is_value(value)) || !is_value(&operands[0]) {
                        return Err(missing("value"));
                    }
                    bundles.iter().flat_map(|(_, values)| values).all(is_value)
                }
                _ => true,
            };
            if !fine || !matches!(op, Op::Call { .. }) && !operands.iter().all(is_value) {
                return Err(missing("value"));
            }
        }
        Ok(())
    }

    fn locate(&mut self) -> Result<()> {
        let instruction = self.instructions.last_mut().ok_or_else(|| missing("instruction"))?;
        instruction.location = self.last.clone();
        Ok(())
    }

    fn instruction(&mut self, code: u64, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        Ok(match code {
            inst::UNOP => {
                let (value, ty) = self.typed_value(rest)?;
                (Op::Unary { opcode: rest.next()?, flags: rest.optional() }, vec![value], Some(ty))
            }
            inst::BINOP => {
                let (left, ty) = self.typed_value(rest)?;
                let right = self.value(rest)?;
                (Op::Binary { opcode: rest.next()?, flags: rest.optional() }, vec![left, right], Some(ty))
            }
            inst::CAST => {
                let (value, _) = self.typed_value(rest)?;
                let (to, opcode) = (self.types.numbered(rest.next()?)?, rest.next()?);
                // Flags of casts are new.
                rest.optional();
                (Op::Cast { opcode }, vec![value], Some(to))
            }
            inst::GEP => self.element_pointer(rest)?,
            inst::VSELECT => {
                let (yes, ty) = self.typed_value(rest)?;
                let no = self.value(rest)?;
                let (condition, _) = self.typed_value(rest)?;
                (Op::Select { flags: rest.optional() }, vec![yes, no, condition], Some(ty))
            }
            inst::EXTRACTELT => {
                let (vector, ty) = self.typed_value(rest)?;
                let (index, _) = self.typed_value(rest)?;
                (Op::ExtractElement, vec![vector, index], Some(self.types.scalar(ty)))
            }
            inst::INSERTELT => {
                let (vector, ty) = self.typed_value(rest)?;
                let element = self.value(rest)?;
                let (index, _) = self.typed_value(rest)?;
                (Op::InsertElement, vec![vector, element, index], Some(ty))
            }
            inst::SHUFFLEVEC => {
                let (first, ty) = self.typed_value(rest)?;
                let second = self.value(rest)?;
                let (mask, mask_type) = self.typed_value(rest)?;
                let element = self.types.scalar(ty);
                (Op::Shuffle, vec![first, second, mask], Some(self.types.like(mask_type, element)))
            }
            inst::CMP2 => {
                let (left, ty) = self.typed_value(rest)?;
                let right = self.value(rest)?;
                let bit = self.types.integer(1);
                let result = self.types.like(ty, bit);
                (Op::Compare { predicate: rest.next()?, flags: rest.optional() }, vec![left, right], Some(result))
            }
            inst::EXTRACTVAL => {
                let (value, mut ty) = self.typed_value(rest)?;
                let indices = rest.all();
                for index in &indices {
                    ty = self.types.part(ty, *index).ok_or_else(|| missing("member"))?;
                }
                (Op::ExtractValue(indices), vec![value], Some(ty))
            }
            inst::INSERTVAL => {
                let (value, ty) = self.typed_value(rest)?;
                let (part, _) = self.typed_value(rest)?;
                (Op::InsertValue(rest.all()), vec![value, part], Some(ty))
            }
            inst::FREEZE => {
                let (value, ty) = self.typed_value(rest)?;
                (Op::Freeze, vec![value], Some(ty))
            }
            inst::PHI => self.phi(rest)?,
            inst::CALL => self.call(rest)?,
            inst::RET | inst::BR | inst::SWITCH | inst::UNREACHABLE => self.terminator(code, rest)?,
            _ => self.memory(code, rest)?,
        })
    }

    fn element_pointer(&mut self, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        // LLVM 22 has two more flags.
        let inbounds = rest.next()? & 1 != 0;
        let element = self.types.numbered(rest.next()?)?;
        let (base, base_type) = self.typed_value(rest)?;
        let (mut operands, mut ty) = (vec![base], base_type);
        while !rest.0.is_empty() {
            let (index, index_type) = self.typed_value(rest)?;
            operands.push(index);
            if self.types.is_pointer(ty) {
                ty = self.types.like(index_type, ty);
            }
        }
        Ok((Op::ElementPointer { inbounds, element }, operands, Some(ty)))
    }

    fn phi(&mut self, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        let ty = self.types.numbered(rest.next()?)?;
        let (mut operands, mut blocks, mut flags) = (Vec::new(), Vec::new(), None);
        while let Some(encoded) = rest.optional() {
            let Some(block) = rest.optional() else {
                flags = Some(encoded);
                break;
            };
            let distance = if encoded & 1 == 0 { encoded >> 1 } else { (encoded >> 1).wrapping_neg() };
            operands.push(self.next_value().wrapping_sub(distance as u32));
            blocks.push(block);
        }
        Ok((Op::Phi { blocks, flags }, operands, Some(ty)))
    }

    fn call(&mut self, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        let (attributes, flags) = (rest.next()?, rest.next()?);
        let math = if flags & CALL_HAS_MATH != 0 { Some(rest.next()?) } else { None };
        if flags & CALL_HAS_TYPE == 0 {
            return Err("a call without its type".into());
        }
        let ty = self.types.numbered(rest.next()?)?;
        let (callee, _) = self.typed_value(rest)?;
        let (result, parameters, variadic) = signature(self.types, ty)?;
        let mut operands = vec![callee];
        for parameter in parameters {
            if *self.types.get(parameter) == Type::Label {
                return Err("a call with a label".into());
            }
            operands.push(self.value(rest)?);
        }
        if variadic {
            return Err("a call of a function with a variable number of arguments".into());
        }
        Ok((Op::Call { attributes, flags, math, ty }, operands, Some(result)))
    }

    fn terminator(&mut self, code: u64, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        Ok(match code {
            inst::RET if rest.0.is_empty() => (Op::Return, Vec::new(), None),
            inst::RET => (Op::Return, vec![self.typed_value(rest)?.0], None),
            inst::BR if rest.0.len() == 1 => (Op::Branch(rest.all()), Vec::new(), None),
            inst::BR => {
                let blocks = vec![rest.next()?, rest.next()?];
                (Op::Branch(blocks), vec![self.value(rest)?], None)
            }
            inst::SWITCH => {
                let ty = self.types.numbered(rest.next()?)?;
                let value = self.value(rest)?;
                let default = rest.next()?;
                let cases = rest.all().chunks_exact(2).map(|pair| (pair[0] as u32, pair[1])).collect();
                (Op::Switch { ty, default, cases }, vec![value], None)
            }
            _ => (Op::Unreachable, Vec::new(), None),
        })
    }

    fn memory(&mut self, code: u64, rest: &mut Rest) -> Result<(Op, Vec<u32>, Option<TypeId>)> {
        Ok(match code {
            inst::ALLOCA => {
                let (element, count) = (self.types.numbered(rest.next()?)?, self.types.numbered(rest.next()?)?);
                // This number does not count backwards.
                let (value, flags) = (rest.next()? as u32, rest.next()?);
                if flags & ALLOCA_HAS_TYPE == 0 || !rest.0.is_empty() {
                    return Err("an alloca outside of the address space 0".into());
                }
                let ty = self.types.intern(Type::Pointer { pointee: None, space: 0 });
                (Op::Alloca { element, count, flags }, vec![value], Some(ty))
            }
            inst::LOAD | inst::LOADATOMIC => {
                let (pointer, _) = self.typed_value(rest)?;
                let ty = self.types.numbered(rest.next()?)?;
                (Op::Load { ty, rest: rest.all() }, vec![pointer], Some(ty))
            }
            inst::STORE | inst::STOREATOMIC => {
                let (pointer, _) = self.typed_value(rest)?;
                let (value, _) = self.typed_value(rest)?;
                (Op::Store { rest: rest.all() }, vec![pointer, value], None)
            }
            inst::CMPXCHG => {
                let (pointer, _) = self.typed_value(rest)?;
                let (expected, ty) = self.typed_value(rest)?;
                let new = self.value(rest)?;
                let bit = self.types.integer(1);
                let result = self.types.intern(Type::Struct { packed: false, members: vec![ty, bit] });
                (Op::CompareExchange { rest: rest.all() }, vec![pointer, expected, new], Some(result))
            }
            inst::ATOMICRMW => {
                let (pointer, _) = self.typed_value(rest)?;
                let (value, ty) = self.typed_value(rest)?;
                // fmax and those after it are new.
                if rest.0.first().is_none_or(|operation| *operation > 12) {
                    return Err("an atomicrmw with an operation that LLVM 14 does not have".into());
                }
                (Op::ReadModifyWrite { rest: rest.all() }, vec![pointer, value], Some(ty))
            }
            inst::FENCE => (Op::Fence(rest.all()), Vec::new(), None),
            code => return Err(format!("an instruction of kind {code}")),
        })
    }
}
