//! Instructions as records. Operands are distances from the instruction to their values; a value that comes later has
//! its type beside it.

use super::body::{CALL_HAS_MATH, Op};
use super::codes::{cast, inst};
use super::constants::Constants;
use super::function::{Placed, Step, ValueRef};
use super::stream::{Abbreviation, Field, Stream};
use super::types::{TypeId, Types};
use super::{Result, missing};

const LOAD: Abbreviation = Abbreviation {
    number: 4,
    fields: &[
        Field::Literal(inst::LOAD),
        Field::Variable(6),
        Field::Variable(6),
        Field::Variable(4),
        Field::Fixed(1),
    ],
};
const BINARY: Abbreviation = Abbreviation {
    number: 5,
    fields: &[Field::Literal(inst::BINOP), Field::Variable(6), Field::Variable(6), Field::Fixed(4)],
};
const BINARY_FLAGS: Abbreviation = Abbreviation {
    number: 6,
    fields: &[
        Field::Literal(inst::BINOP),
        Field::Variable(6),
        Field::Variable(6),
        Field::Fixed(4),
        Field::Fixed(8),
    ],
};
const CAST: Abbreviation = Abbreviation {
    number: 7,
    fields: &[Field::Literal(inst::CAST), Field::Variable(6), Field::Variable(6), Field::Fixed(4)],
};
const ELEMENT_POINTER: Abbreviation = Abbreviation {
    number: 8,
    fields: &[Field::Literal(inst::GEP), Field::Fixed(1), Field::Variable(6), Field::ArrayVariable(6)],
};
const STORE: Abbreviation = Abbreviation {
    number: 9,
    fields: &[
        Field::Literal(inst::STORE),
        Field::Variable(6),
        Field::Variable(6),
        Field::Variable(4),
        Field::Fixed(1),
    ],
};
const CALL: Abbreviation =
    Abbreviation { number: 10, fields: &[Field::Literal(inst::CALL), Field::ArrayVariable(6)] };
const BRANCH: Abbreviation =
    Abbreviation { number: 11, fields: &[Field::Literal(inst::BR), Field::ArrayVariable(6)] };
const PHI: Abbreviation =
    Abbreviation { number: 12, fields: &[Field::Literal(inst::PHI), Field::ArrayVariable(6)] };
const COMPARE: Abbreviation = Abbreviation {
    number: 13,
    fields: &[Field::Literal(inst::CMP2), Field::Variable(6), Field::Variable(6), Field::Fixed(6)],
};
const LOCATION: Abbreviation = Abbreviation {
    number: 14,
    fields: &[
        Field::Literal(inst::DEBUG_LOC),
        Field::Variable(8),
        Field::Variable(6),
        Field::Variable(6),
        Field::Variable(6),
        Field::Fixed(1),
    ],
};
const ELEMENT: Abbreviation = Abbreviation {
    number: 15,
    fields: &[Field::Literal(inst::EXTRACTELT), Field::Variable(6), Field::Variable(6)],
};

/// The encodings of instructions, in the order of their numbers.
pub(super) const ABBREVIATIONS: [Abbreviation; 12] =
    [LOAD, BINARY, BINARY_FLAGS, CAST, ELEMENT_POINTER, STORE, CALL, BRANCH, PHI, COMPARE, LOCATION, ELEMENT];

/// The numbers of a function's values in LLVM 14.
pub(super) struct Numbers {
    pub(super) locals: Vec<u32>,
    casts: Vec<u32>,
}

impl Numbers {
    /// Numbers the parameters from `first`, and the results from `first_instruction`.
    pub(super) fn assign(
        steps: &[Step],
        locals: usize,
        casts: usize,
        (first, parameters, first_instruction): (u32, u32, u32),
    ) -> Numbers {
        let mut numbers = Numbers { locals: vec![u32::MAX; locals], casts: vec![u32::MAX; casts] };
        for parameter in 0..parameters {
            numbers.locals[parameter as usize] = first + parameter;
        }
        let mut next = first_instruction;
        for step in steps {
            match step {
                Step::Cast { place, .. } => numbers.casts[*place] = next,
                Step::Original(placed) if placed.instruction.ty.is_some() => {
                    numbers.locals[placed.local as usize] = next;
                }
                Step::Original(_) => continue,
            }
            next += 1;
        }
        numbers
    }
}

pub(super) struct Encoder<'a> {
    pub(super) types: &'a mut Types,
    pub(super) constants: &'a Constants,
    pub(super) locals: &'a [TypeId],
    pub(super) casts: &'a [TypeId],
    pub(super) numbers: &'a Numbers,
    /// The number of the next result.
    pub(super) next: u32,
}

impl Encoder<'_> {
    pub(super) fn write(mut self, stream: &mut Stream, steps: &[Step]) -> Result<()> {
        let mut last = None;
        for step in steps {
            match step {
                Step::Cast { value, to, .. } => {
                    let mut record = Vec::new();
                    self.typed_value(&mut record, *value);
                    record.extend([self.types.number(*to), cast::BITCAST]);
                    stream.abbreviated(CAST, inst::CAST, &record);
                    self.next += 1;
                }
                Step::Original(placed) => {
                    self.instruction(stream, placed)?;
                    self.next += u32::from(placed.instruction.ty.is_some());
                    if let Some(location) = &placed.instruction.location {
                        match last == Some(location) {
                            true => stream.record(inst::DEBUG_LOC_AGAIN, &[]),
                            false => stream.abbreviated(LOCATION, inst::DEBUG_LOC, location),
                        }
                        last = Some(location);
                    }
                }
            }
        }
        Ok(())
    }

    fn number(&self, value: ValueRef) -> u32 {
        match value {
            ValueRef::Constant(constant) => self.constants.number(constant),
            ValueRef::Local(local) => self.numbers.locals[local as usize],
            ValueRef::Cast(place) => self.numbers.casts[place],
            ValueRef::Metadata(node) => node,
        }
    }

    fn value(&self, record: &mut Vec<u64>, value: ValueRef) {
        // Distances to values that come later wrap around, in 32 bits.
        record.push(self.next.wrapping_sub(self.number(value)).into());
    }

    fn typed_value(&mut self, record: &mut Vec<u64>, value: ValueRef) {
        self.value(record, value);
        if self.number(value) >= self.next {
            let ty = match value {
                ValueRef::Local(local) => self.locals[local as usize],
                ValueRef::Cast(place) => self.casts[place],
                // All of them come before instructions.
                ValueRef::Constant(_) | ValueRef::Metadata(_) => return,
            };
            record.push(self.types.number(ty));
        }
    }

    fn instruction(&mut self, stream: &mut Stream, placed: &Placed) -> Result<()> {
        let values = &placed.operands;
        let mut record = Vec::new();
        match &placed.instruction.op {
            Op::Unary { opcode, flags } => {
                self.typed_value(&mut record, values[0]);
                record.push(*opcode);
                record.extend(flags);
                stream.record(inst::UNOP, &record);
            }
            Op::Binary { opcode, flags } => {
                /// The flag of `or` is new.
                const OR: u64 = 11;
                self.typed_value(&mut record, values[0]);
                self.value(&mut record, values[1]);
                record.push(*opcode);
                record.extend(flags.filter(|_| *opcode != OR));
                let form = if record.len() == 3 { BINARY } else { BINARY_FLAGS };
                stream.abbreviated(form, inst::BINOP, &record);
            }
            Op::Cast { opcode, .. } => {
                if *opcode > cast::ADDRSPACECAST {
                    return Err("a cast that LLVM 14 does not have".into());
                }
                self.typed_value(&mut record, values[0]);
                record.extend([self.types.number(self.locals[placed.local as usize]), *opcode]);
                stream.abbreviated(CAST, inst::CAST, &record);
            }
            Op::ElementPointer { inbounds, element } => {
                let element = self.types.typed(*element);
                record.extend([u64::from(*inbounds), self.types.number(element)]);
                values.iter().for_each(|value| self.typed_value(&mut record, *value));
                stream.abbreviated(ELEMENT_POINTER, inst::GEP, &record);
            }
            Op::Select { flags } => {
                self.typed_value(&mut record, values[0]);
                self.value(&mut record, values[1]);
                self.typed_value(&mut record, values[2]);
                record.extend(flags);
                stream.record(inst::VSELECT, &record);
            }
            Op::ExtractElement => {
                values.iter().for_each(|value| self.typed_value(&mut record, *value));
                stream.abbreviated(ELEMENT, inst::EXTRACTELT, &record);
            }
            Op::InsertElement | Op::Shuffle => {
                self.typed_value(&mut record, values[0]);
                self.value(&mut record, values[1]);
                self.typed_value(&mut record, values[2]);
                let is_shuffle = matches!(placed.instruction.op, Op::Shuffle);
                stream.record(if is_shuffle { inst::SHUFFLEVEC } else { inst::INSERTELT }, &record);
            }
            Op::Compare { predicate, flags } => {
                /// Predicates from here on compare integers, whose flag is new.
                const FIRST_OF_INTEGERS: u64 = 32;
                self.typed_value(&mut record, values[0]);
                self.value(&mut record, values[1]);
                record.push(*predicate);
                record.extend(flags.filter(|_| *predicate < FIRST_OF_INTEGERS));
                stream.abbreviated(COMPARE, inst::CMP2, &record);
            }
            Op::ExtractValue(indices) => {
                self.typed_value(&mut record, values[0]);
                record.extend(indices);
                stream.record(inst::EXTRACTVAL, &record);
            }
            Op::InsertValue(indices) => {
                self.typed_value(&mut record, values[0]);
                self.typed_value(&mut record, values[1]);
                record.extend(indices);
                stream.record(inst::INSERTVAL, &record);
            }
            Op::Freeze => {
                self.typed_value(&mut record, values[0]);
                stream.record(inst::FREEZE, &record);
            }
            Op::Phi { blocks, flags } => {
                record.push(self.types.number(self.locals[placed.local as usize]));
                for (value, block) in values.iter().zip(blocks) {
                    let distance = i64::from(self.next) - i64::from(self.number(*value));
                    record.push(distance.unsigned_abs() << 1 | u64::from(distance < 0));
                    record.push(*block);
                }
                record.extend(flags);
                stream.abbreviated(PHI, inst::PHI, &record);
            }
            Op::Call { flags, math, .. } => self.call(stream, placed, *flags, *math)?,
            Op::Return | Op::Branch(_) | Op::Switch { .. } | Op::Unreachable => self.terminator(stream, placed),
            _ => self.memory(stream, placed)?,
        }
        Ok(())
    }

    fn call(&mut self, stream: &mut Stream, placed: &Placed, flags: u64, math: Option<u64>) -> Result<()> {
        for ((tag, _), values) in placed.instruction.bundles.iter().zip(&placed.bundles) {
            let mut record = vec![*tag];
            values.iter().for_each(|value| self.typed_value(&mut record, *value));
            stream.record(inst::OPERAND_BUNDLE, &record);
        }
        let (ty, attributes) = placed.callee.ok_or_else(|| missing("function"))?;
        let mut record = vec![attributes, flags];
        debug_assert_eq!(math.is_some(), flags & CALL_HAS_MATH != 0);
        record.extend(math);
        record.push(self.types.number(ty));
        self.typed_value(&mut record, placed.operands[0]);
        placed.operands[1..].iter().for_each(|value| self.value(&mut record, *value));
        stream.abbreviated(CALL, inst::CALL, &record);
        Ok(())
    }

    fn terminator(&mut self, stream: &mut Stream, placed: &Placed) {
        let mut record = Vec::new();
        match &placed.instruction.op {
            Op::Return => {
                placed.operands.iter().for_each(|value| self.typed_value(&mut record, *value));
                stream.record(inst::RET, &record);
            }
            Op::Branch(blocks) => {
                record.extend(blocks);
                placed.operands.iter().for_each(|value| self.value(&mut record, *value));
                stream.abbreviated(BRANCH, inst::BR, &record);
            }
            Op::Switch { ty, default, cases } => {
                record.push(self.types.number(*ty));
                self.value(&mut record, placed.operands[0]);
                record.push(*default);
                // Numbers of constants do not count backwards.
                for (value, (_, block)) in placed.operands[1..].iter().zip(cases) {
                    record.extend([u64::from(self.number(*value)), *block]);
                }
                stream.record(inst::SWITCH, &record);
            }
            _ => stream.record(inst::UNREACHABLE, &[]),
        }
    }

    fn memory(&mut self, stream: &mut Stream, placed: &Placed) -> Result<()> {
        let values = &placed.operands;
        let mut record = Vec::new();
        match &placed.instruction.op {
            Op::Alloca { count, flags, .. } => {
                let element =
                    self.types.pointee(self.locals[placed.local as usize]).ok_or_else(|| missing("type"))?;
                let count = self.types.number(*count);
                record.extend([self.types.number(element), count, self.number(values[0]).into(), *flags]);
                stream.record(inst::ALLOCA, &record);
            }
            Op::Load { rest, .. } => {
                self.typed_value(&mut record, values[0]);
                record.push(self.types.number(self.locals[placed.local as usize]));
                record.extend(rest);
                // Alignment and volatile; an atomic one has ordering and scope as well.
                match rest.len() {
                    2 => stream.abbreviated(LOAD, inst::LOAD, &record),
                    _ => stream.record(inst::LOADATOMIC, &record),
                }
            }
            Op::Store { rest } => {
                self.typed_value(&mut record, values[0]);
                self.typed_value(&mut record, values[1]);
                record.extend(rest);
                match rest.len() {
                    2 => stream.abbreviated(STORE, inst::STORE, &record),
                    _ => stream.record(inst::STOREATOMIC, &record),
                }
            }
            Op::CompareExchange { rest } => {
                self.typed_value(&mut record, values[0]);
                self.typed_value(&mut record, values[1]);
                self.value(&mut record, values[2]);
                record.extend(rest);
                stream.record(inst::CMPXCHG, &record);
            }
            Op::ReadModifyWrite { rest } => {
                self.typed_value(&mut record, values[0]);
                self.typed_value(&mut record, values[1]);
                record.extend(rest);
                stream.record(inst::ATOMICRMW, &record);
            }
            Op::Fence(rest) => stream.record(inst::FENCE, rest),
            _ => return Err(missing("instruction")),
        }
        Ok(())
    }
}
