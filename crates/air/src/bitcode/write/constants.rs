//! Blocks of constants. A constant is asked for with the type that its user needs, so that a null pointer or a variable
//! appears once for each type.

use super::body::Body;
use super::codes::{block, cast, constant as code};
use super::input::{ConstantValue, Input};
use super::pointees::{indexed, natural_pointee};
use super::stream::{Abbreviation, Field, Stream};
use super::types::{Type, TypeId, Types};
use super::{Result, missing};
use rustc_hash::FxHashMap;

const SETTYPE: Abbreviation =
    Abbreviation { number: 4, fields: &[Field::Literal(code::SETTYPE), Field::Variable(6)] };
const INTEGER: Abbreviation =
    Abbreviation { number: 5, fields: &[Field::Literal(code::INTEGER), Field::Variable(8)] };
const NULL: Abbreviation = Abbreviation { number: 6, fields: &[Field::Literal(code::NULL)] };
const FLOAT: Abbreviation = Abbreviation { number: 7, fields: &[Field::Literal(code::FLOAT), Field::Variable(8)] };
const LIST: Abbreviation =
    Abbreviation { number: 8, fields: &[Field::Literal(code::AGGREGATE), Field::ArrayVariable(6)] };
const DATA: Abbreviation =
    Abbreviation { number: 9, fields: &[Field::Literal(code::DATA), Field::ArrayVariable(8)] };

/// The encodings of constants, in the order of their numbers.
pub(super) const ABBREVIATIONS: [Abbreviation; 6] = [SETTYPE, INTEGER, NULL, FLOAT, LIST, DATA];

/// A constant's number, once all are known: that of a global or of a constant of the module, or a place in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConstantRef {
    Number(u32),
    Own(usize),
}

enum Encoded {
    Plain(u64, Vec<u64>),
    Aggregate(Vec<ConstantRef>),
    Binary(u64, ConstantRef, ConstantRef, Option<u64>),
    Cast(u64, TypeId, ConstantRef),
    ElementPointer { inbounds: bool, element: TypeId, operands: Vec<(TypeId, ConstantRef)> },
}

/// The constants of a module or function.
#[derive(Default)]
pub(super) struct Constants {
    entries: Vec<(TypeId, Encoded)>,
    /// By the number in LLVM 22 and the type.
    places: FxHashMap<(u32, TypeId), usize>,
    /// Integers that are new.
    integers: FxHashMap<(TypeId, u64), usize>,
    /// For each entry, its number, once the table is complete.
    numbers: Vec<u32>,
    /// The entries in the order of their numbers.
    order: Vec<usize>,
}

/// Everything about a module that its constants refer to.
#[derive(Clone, Copy)]
pub(super) struct Module<'a> {
    pub(super) input: &'a Input,
    /// Types of the contents of variables, and of functions.
    pub(super) globals: &'a [TypeId],
    /// The constants of the module, for those of a function.
    pub(super) constants: Option<&'a Constants>,
    pub(super) body: Option<&'a Body<'a>>,
}

impl Constants {
    /// A constant with this type, or with the one that is natural for it; and its type.
    pub(super) fn get(
        &mut self,
        module: Module,
        types: &mut Types,
        value: u32,
        expected: Option<TypeId>,
    ) -> Result<(ConstantRef, TypeId)> {
        let natural = self.natural(module, types, value, expected)?;
        let ty = expected.unwrap_or(natural);
        if ty == natural && (value as usize) < module.input.globals.len() {
            let number =
                module.input.numbers[value as usize].ok_or("a use of a function that LLVM 14 does not have")?;
            return Ok((ConstantRef::Number(number), ty));
        }
        if let Some(place) = module.constants.and_then(|constants| constants.number_of(value, ty)) {
            return Ok((ConstantRef::Number(place), ty));
        }
        if let Some(place) = self.places.get(&(value, ty)) {
            return Ok((ConstantRef::Own(*place), ty));
        }
        let encoded = match ty == natural {
            true => self.encode(module, types, value, ty)?,
            false => {
                let (part, from) = self.get(module, types, value, Some(natural))?;
                let spaces = (types.pointer_space(from), types.pointer_space(ty));
                if spaces.0.is_none() || spaces.0 != spaces.1 {
                    return Err("a constant of another type than its user needs".into());
                }
                Encoded::Cast(cast::BITCAST, from, part)
            }
        };
        let place = self.add(ty, encoded);
        self.places.insert((value, ty), place);
        Ok((ConstantRef::Own(place), ty))
    }

    /// An integer that is not in the module of LLVM 22.
    pub(super) fn integer(&mut self, ty: TypeId, value: u64) -> ConstantRef {
        if let Some(place) = self.integers.get(&(ty, value)) {
            return ConstantRef::Own(*place);
        }
        // The sign is the lowest bit; -1 stands for an unknown size.
        let encoded = if value == u64::MAX { 3 } else { value << 1 };
        let place = self.add(ty, Encoded::Plain(code::INTEGER, vec![encoded]));
        self.integers.insert((ty, value), place);
        ConstantRef::Own(place)
    }

    fn add(&mut self, ty: TypeId, encoded: Encoded) -> usize {
        self.entries.push((ty, encoded));
        self.entries.len() - 1
    }

    fn number_of(&self, value: u32, ty: TypeId) -> Option<u32> {
        self.places.get(&(value, ty)).map(|place| self.numbers[*place])
    }

    /// The type that a value has without a cast.
    fn natural(
        &mut self,
        module: Module,
        types: &mut Types,
        value: u32,
        expected: Option<TypeId>,
    ) -> Result<TypeId> {
        let Module { input, body, globals, .. } = module;
        let opaque = match input.opaque_pointers.get(value as usize) {
            Some(pointer) => *pointer,
            None => input.constant(value, body).ok_or_else(|| missing("constant"))?.ty,
        };
        let any = expected.unwrap_or_else(|| types.typed(opaque));
        let (Some(space), true) = (types.pointer_space(opaque), types.is_pointer(opaque)) else { return Ok(any) };
        // An addrspacecast can change the pointee as well.
        let is_cast = matches!(input.constant(value, body).map(|one| &one.value), Some(ConstantValue::Cast(..)));
        if is_cast && expected.is_some() {
            return Ok(any);
        }
        match natural_pointee(types, input, value, body, Some(globals))? {
            Some(pointee) => Ok(types.pointer(pointee, space)),
            None => Ok(any),
        }
    }

    fn encode(&mut self, module: Module, types: &mut Types, value: u32, ty: TypeId) -> Result<Encoded> {
        let constant = module.input.constant(value, module.body).ok_or_else(|| missing("constant"))?;
        Ok(match &constant.value {
            ConstantValue::Plain(kind @ (code::INTEGER | code::WIDE_INTEGER | code::FLOAT), _)
                if matches!(types.get(ty), Type::Vector(..)) =>
            {
                return Err(format!("a vector as a constant of kind {kind}"));
            }
            ConstantValue::Plain(code, operands) => Encoded::Plain(*code, operands.clone()),
            ConstantValue::Aggregate(parts) => {
                let mut encoded = Vec::with_capacity(parts.len());
                for (index, part) in parts.iter().enumerate() {
                    let element = types.part(ty, index as u64).ok_or_else(|| missing("member"))?;
                    let element = types.typed(element);
                    encoded.push(self.get(module, types, *part, Some(element))?.0);
                }
                Encoded::Aggregate(encoded)
            }
            ConstantValue::Binary(opcode, left, right, flags) => {
                let (left, _) = self.get(module, types, *left, Some(ty))?;
                let (right, _) = self.get(module, types, *right, Some(ty))?;
                Encoded::Binary(*opcode, left, right, *flags)
            }
            ConstantValue::Cast(opcode, operand) => {
                let (operand, from) = self.get(module, types, *operand, None)?;
                Encoded::Cast(*opcode, from, operand)
            }
            ConstantValue::ElementPointer { inbounds, element, operands } => {
                let element = types.typed(*element);
                let (base, rest) = operands.split_first().ok_or_else(|| missing("operand"))?;
                let space = types.pointer_space(ty).ok_or("a vector of constant addresses")?;
                let pointer = types.pointer(element, space);
                let (base, _) = self.get(module, types, *base, Some(pointer))?;
                let mut encoded = vec![(pointer, base)];
                for operand in rest {
                    let (operand, ty) = self.get(module, types, *operand, None)?;
                    encoded.push((ty, operand));
                }
                // The type that it reaches is `ty`, which `natural` has found the same way.
                debug_assert!(
                    indexed(types, module.input, element, operands, module.body).is_ok(),
                    "the indices were followed before"
                );
                Encoded::ElementPointer { inbounds: *inbounds, element, operands: encoded }
            }
        })
    }

    /// Numbers the constants, those of a type together. Their number is returned.
    pub(super) fn finish(&mut self, first: u32, types: &mut Types) -> u32 {
        self.order = (0..self.entries.len()).collect();
        self.order.sort_by_key(|place| types.number(self.entries[*place].0));
        self.numbers = vec![0; self.entries.len()];
        for (number, place) in self.order.iter().enumerate() {
            self.numbers[*place] = first + number as u32;
        }
        self.entries.len() as u32
    }

    /// The number of a constant of this table or above it.
    pub(super) fn number(&self, constant: ConstantRef) -> u32 {
        match constant {
            ConstantRef::Number(number) => number,
            ConstantRef::Own(place) => self.numbers[place],
        }
    }

    /// Writes the block.
    pub(super) fn write(&self, stream: &mut Stream, types: &mut Types) {
        if self.entries.is_empty() {
            return;
        }
        stream.enter(block::CONSTANTS);
        let mut current = None;
        let number = |constant: &ConstantRef| u64::from(self.number(*constant));
        for place in &self.order {
            let (ty, encoded) = &self.entries[*place];
            if current != Some(*ty) {
                stream.abbreviated(SETTYPE, code::SETTYPE, &[types.number(*ty)]);
                current = Some(*ty);
            }
            match encoded {
                Encoded::Plain(code, operands) => match *code {
                    code::INTEGER => stream.abbreviated(INTEGER, *code, operands),
                    code::NULL => stream.abbreviated(NULL, *code, operands),
                    code::FLOAT => stream.abbreviated(FLOAT, *code, operands),
                    code::DATA => stream.abbreviated(DATA, *code, operands),
                    _ => stream.record(*code, operands),
                },
                Encoded::Aggregate(parts) => {
                    let operands: Vec<u64> = parts.iter().map(number).collect();
                    stream.abbreviated(LIST, code::AGGREGATE, &operands);
                }
                Encoded::Binary(opcode, left, right, flags) => {
                    let mut operands = vec![*opcode, number(left), number(right)];
                    operands.extend(flags);
                    stream.record(code::CE_BINOP, &operands);
                }
                Encoded::Cast(opcode, from, operand) => {
                    stream.record(code::CE_CAST, &[*opcode, types.number(*from), number(operand)]);
                }
                Encoded::ElementPointer { inbounds, element, operands } => {
                    let code = if *inbounds { code::CE_INBOUNDS_GEP_14 } else { code::CE_GEP_14 };
                    let mut all = vec![types.number(*element)];
                    for (ty, operand) in operands {
                        all.extend([types.number(*ty), number(operand)]);
                    }
                    stream.record(code, &all);
                }
            }
        }
        stream.leave();
    }
}
