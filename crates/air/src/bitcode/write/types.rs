//! The types of a module, before and after: LLVM 22's pointers have no pointee, LLVM 14's have one.

use super::codes::types as code;
use super::stream::Stream;
use super::{Result, missing};
use rustc_hash::FxHashMap;

/// A type, by its place in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct TypeId(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Type {
    Void,
    Half,
    BFloat,
    Float,
    Double,
    Label,
    Metadata,
    Token,
    Integer(u64),
    /// The pointee is none in the types of LLVM 22.
    Pointer {
        pointee: Option<TypeId>,
        space: u64,
    },
    Array(u64, TypeId),
    Vector(u64, TypeId),
    Struct {
        packed: bool,
        members: Vec<TypeId>,
    },
    /// A structure with a name, by its place in the list of them.
    Named(usize),
    Function {
        variadic: bool,
        result: TypeId,
        parameters: Vec<TypeId>,
    },
}

#[derive(Clone, Debug)]
struct Named {
    name: Vec<u64>,
    /// Members, and true if they are packed; none for a structure that is only declared.
    body: Option<(Vec<TypeId>, bool)>,
}

/// All types: each is there once.
#[derive(Default)]
pub(super) struct Types {
    all: Vec<Type>,
    ids: FxHashMap<Type, TypeId>,
    named: Vec<Named>,
    /// Types of LLVM 22's table, in its order.
    table: Vec<TypeId>,
    /// The name for the structure that comes next in LLVM 22's table.
    pending_name: Vec<u64>,
    /// `typed`, of types for which it is known.
    typed: FxHashMap<TypeId, TypeId>,
    /// The number that a type has in LLVM 14's table.
    numbers: FxHashMap<TypeId, u64>,
    /// LLVM 14's table.
    written: Vec<TypeId>,
}

impl Types {
    pub(super) fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(id) = self.ids.get(&ty) {
            return *id;
        }
        let id = TypeId(self.all.len() as u32);
        self.all.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    pub(super) fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0 as usize]
    }

    /// The type with this number in LLVM 22's table.
    pub(super) fn numbered(&self, number: u64) -> Result<TypeId> {
        usize::try_from(number)
            .ok()
            .and_then(|number| self.table.get(number))
            .copied()
            .ok_or_else(|| missing("type"))
    }

    pub(super) fn integer(&mut self, bits: u64) -> TypeId {
        self.intern(Type::Integer(bits))
    }

    pub(super) fn pointer(&mut self, pointee: TypeId, space: u64) -> TypeId {
        self.intern(Type::Pointer { pointee: Some(pointee), space })
    }

    /// The element type of a vector, or the type itself.
    pub(super) fn scalar(&self, id: TypeId) -> TypeId {
        if let Type::Vector(_, element) = self.get(id) { *element } else { id }
    }

    /// A vector of `element` that is as long as `shape`, or `element` where that is no vector.
    pub(super) fn like(&mut self, shape: TypeId, element: TypeId) -> TypeId {
        match *self.get(shape) {
            Type::Vector(length, _) => self.intern(Type::Vector(length, element)),
            _ => element,
        }
    }

    /// The address space of a pointer or of a vector of pointers; none for other types.
    pub(super) fn pointer_space(&self, id: TypeId) -> Option<u64> {
        match self.get(self.scalar(id)) {
            Type::Pointer { space, .. } => Some(*space),
            _ => None,
        }
    }

    pub(super) fn is_pointer(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Pointer { .. })
    }

    pub(super) fn pointee(&self, id: TypeId) -> Option<TypeId> {
        match self.get(self.scalar(id)) {
            Type::Pointer { pointee, .. } => *pointee,
            _ => None,
        }
    }

    /// The type of a member of a structure, or of an element of an array or vector.
    pub(super) fn part(&self, id: TypeId, index: u64) -> Option<TypeId> {
        match self.get(id) {
            Type::Array(_, element) | Type::Vector(_, element) => Some(*element),
            Type::Struct { members, .. } => members.get(usize::try_from(index).ok()?).copied(),
            Type::Named(named) => {
                let (members, _) = self.named[*named].body.as_ref()?;
                members.get(usize::try_from(index).ok()?).copied()
            }
            _ => None,
        }
    }

    /// True for structures, whose members have types of their own.
    pub(super) fn is_struct(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Struct { .. } | Type::Named(_))
    }

    /// The type in LLVM 14, where nothing more is known about its pointers: they point to bytes.
    pub(super) fn typed(&mut self, id: TypeId) -> TypeId {
        if let Some(typed) = self.typed.get(&id) {
            return *typed;
        }
        let typed = match self.get(id).clone() {
            Type::Pointer { pointee: None, space } => {
                let byte = self.integer(8);
                self.pointer(byte, space)
            }
            Type::Array(length, element) => {
                let element = self.typed(element);
                self.intern(Type::Array(length, element))
            }
            Type::Vector(length, element) => {
                let element = self.typed(element);
                self.intern(Type::Vector(length, element))
            }
            Type::Struct { packed, members } => {
                let members = members.into_iter().map(|member| self.typed(member)).collect();
                self.intern(Type::Struct { packed, members })
            }
            Type::Function { variadic, result, parameters } => {
                let result = self.typed(result);
                let parameters = parameters.into_iter().map(|parameter| self.typed(parameter)).collect();
                self.intern(Type::Function { variadic, result, parameters })
            }
            _ => id,
        };
        self.typed.insert(id, typed);
        typed
    }

    /// Reads a record of LLVM 22's table.
    pub(super) fn read(&mut self, record: u64, operands: &[u64]) -> Result<()> {
        let operand = |at: usize| operands.get(at).copied().ok_or_else(|| missing("type"));
        let list = |types: &Types, from: usize| -> Result<Vec<TypeId>> {
            operands.get(from..).unwrap_or(&[]).iter().map(|number| types.numbered(*number)).collect()
        };
        let ty = match record {
            code::NUMENTRY => return Ok(()),
            code::STRUCT_NAME => {
                self.pending_name = operands.to_vec();
                return Ok(());
            }
            code::VOID => Type::Void,
            code::HALF => Type::Half,
            code::BFLOAT => Type::BFloat,
            code::FLOAT => Type::Float,
            code::DOUBLE => Type::Double,
            code::LABEL => Type::Label,
            code::METADATA => Type::Metadata,
            code::TOKEN => Type::Token,
            code::INTEGER => Type::Integer(operand(0)?),
            code::OPAQUE_POINTER => Type::Pointer { pointee: None, space: operand(0)? },
            code::ARRAY => Type::Array(operand(0)?, self.numbered(operand(1)?)?),
            code::VECTOR if operands.len() == 2 => Type::Vector(operand(0)?, self.numbered(operand(1)?)?),
            code::VECTOR => return Err("a scalable vector".into()),
            code::STRUCT_ANON => Type::Struct { packed: operand(0)? != 0, members: list(self, 1)? },
            code::STRUCT_NAMED | code::OPAQUE => {
                let body = match record {
                    code::OPAQUE => None,
                    _ => Some((list(self, 1)?, operand(0)? != 0)),
                };
                self.named.push(Named { name: std::mem::take(&mut self.pending_name), body });
                Type::Named(self.named.len() - 1)
            }
            code::FUNCTION => Type::Function {
                variadic: operand(0)? != 0,
                result: self.numbered(operand(1)?)?,
                parameters: list(self, 2)?,
            },
            _ => return Err(format!("a type of kind {record}")),
        };
        let id = self.intern(ty);
        self.table.push(id);
        Ok(())
    }

    /// The number of a type in LLVM 14's table, to which it is added. The type has typed pointers only.
    pub(super) fn number(&mut self, id: TypeId) -> u64 {
        if let Some(number) = self.numbers.get(&id) {
            return *number;
        }
        // Parts come first. No type contains itself: members that are pointers point to bytes.
        for part in self.parts(id) {
            self.number(part);
        }
        let number = self.written.len() as u64;
        self.written.push(id);
        self.numbers.insert(id, number);
        number
    }

    fn parts(&mut self, id: TypeId) -> Vec<TypeId> {
        match self.get(id).clone() {
            Type::Pointer { pointee, .. } => pointee.into_iter().collect(),
            Type::Array(_, element) | Type::Vector(_, element) => vec![element],
            Type::Struct { members, .. } => members,
            Type::Named(named) => {
                let members = self.named[named].body.clone().map_or(Vec::new(), |(members, _)| members);
                members.into_iter().map(|member| self.typed(member)).collect()
            }
            Type::Function { result, parameters, .. } => std::iter::once(result).chain(parameters).collect(),
            _ => Vec::new(),
        }
    }

    /// Writes LLVM 14's table, once all numbers have been asked for.
    pub(super) fn write(&mut self, stream: &mut Stream) {
        stream.enter(super::codes::block::TYPE_NEW);
        stream.record(code::NUMENTRY, &[self.written.len() as u64]);
        for id in self.written.clone() {
            let parts: Vec<u64> = self.parts(id).into_iter().map(|part| self.number(part)).collect();
            let with = |first: u64| std::iter::once(first).chain(parts.iter().copied()).collect::<Vec<u64>>();
            match self.get(id) {
                Type::Void => stream.record(code::VOID, &[]),
                Type::Half => stream.record(code::HALF, &[]),
                Type::BFloat => stream.record(code::BFLOAT, &[]),
                Type::Float => stream.record(code::FLOAT, &[]),
                Type::Double => stream.record(code::DOUBLE, &[]),
                Type::Label => stream.record(code::LABEL, &[]),
                Type::Metadata => stream.record(code::METADATA, &[]),
                Type::Token => stream.record(code::TOKEN, &[]),
                Type::Integer(bits) => stream.record(code::INTEGER, &[*bits]),
                Type::Pointer { space, .. } => stream.record(code::POINTER, &[parts[0], *space]),
                Type::Array(length, _) => stream.record(code::ARRAY, &with(*length)),
                Type::Vector(length, _) => stream.record(code::VECTOR, &with(*length)),
                Type::Struct { packed, .. } => stream.record(code::STRUCT_ANON, &with((*packed).into())),
                Type::Named(named) => {
                    let named = &self.named[*named];
                    stream.record(code::STRUCT_NAME, &named.name);
                    match named.body {
                        Some((_, packed)) => stream.record(code::STRUCT_NAMED, &with(packed.into())),
                        None => stream.record(code::OPAQUE, &[0]),
                    }
                }
                Type::Function { variadic, .. } => stream.record(code::FUNCTION, &with((*variadic).into())),
            }
        }
        stream.leave();
    }

    /// Bytes that a value takes in memory, by AIR's data layout: numbers and vectors are aligned to their size, rounded
    /// up to a power of two. None for types without a size.
    pub(super) fn size(&self, id: TypeId) -> Option<u64> {
        self.layout(id).map(|(size, _)| size)
    }

    fn layout(&self, id: TypeId) -> Option<(u64, u64)> {
        let natural = |bits: u64| {
            let align = bits.div_ceil(8).next_power_of_two();
            Some((align, align))
        };
        match self.get(id) {
            Type::Half | Type::BFloat => natural(16),
            Type::Float => natural(32),
            Type::Double | Type::Pointer { .. } => natural(64),
            Type::Integer(bits) => natural(*bits),
            Type::Vector(length, element) => {
                let bits = match self.get(*element) {
                    Type::Integer(bits) => *bits,
                    _ => self.layout(*element)?.0 * 8,
                };
                natural(bits.checked_mul(*length)?)
            }
            Type::Array(length, element) => {
                let (size, align) = self.layout(*element)?;
                Some((size.checked_mul(*length)?, align))
            }
            Type::Struct { packed, members } => self.struct_layout(members, *packed),
            Type::Named(named) => {
                let (members, packed) = self.named[*named].body.as_ref()?;
                self.struct_layout(members, *packed)
            }
            Type::Void | Type::Label | Type::Metadata | Type::Token | Type::Function { .. } => None,
        }
    }

    fn struct_layout(&self, members: &[TypeId], packed: bool) -> Option<(u64, u64)> {
        let (mut end, mut most) = (0u64, 1);
        for member in members {
            let (size, align) = self.layout(*member)?;
            let align = if packed { 1 } else { align };
            end = end.next_multiple_of(align).checked_add(size)?;
            most = most.max(align);
        }
        Some((end.next_multiple_of(most), most))
    }
}
