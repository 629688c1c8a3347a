//! The memory of an evaluation: objects, locations in them, reading and writing.
//!
//! A [`Location`] is an object and a path of steps into it; an address is a location as a value. Objects are numbered
//! once and for all, so that a reference to one whose function has returned finds nothing rather than another object.

use super::Interrupt;
use crate::program::{GlobalId, Program, Value};
use crate::types::{Field, IntKind, Ty, TyKind, Types};

/// Content of memory and result of expressions: a [`Value`] that may have addresses in it and parts that are not
/// initialized.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Slot {
    /// Not initialized; also the result of an expression of type `void`.
    Uninit,
    /// Any value but [`Value::Aggregate`]. [`Value::Unknown`] may stand for a whole aggregate.
    Scalar(Value),
    /// The parts of a vector, matrix, array or struct. That of a union ends with its active field, and those before
    /// it are not initialized.
    Aggregate(Vec<Slot>),
    /// A pointer or reference.
    Address(Location),
}

/// An object, or a part of one.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Location {
    pub(super) root: Root,
    pub(super) path: Vec<Step>,
}

/// Start of a path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Root {
    Object(usize),
    Global(GlobalId),
}

/// From a whole to its part.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// A field of a struct, a component of a vector, a column of a matrix.
    Field(u32),
    /// An element of an array. Pointers can move between these; one past the end is an address, too.
    Element(u64),
    /// Components of a vector; always the last step.
    Swizzle(Vec<u8>),
}

impl Location {
    pub(super) fn new(root: Root) -> Location {
        Location { root, path: Vec::new() }
    }

    pub(super) fn then(mut self, step: Step) -> Location {
        // A component of a swizzle is a component of the vector.
        if let (Some(Step::Swizzle(components)), Step::Field(index)) = (self.path.last(), &step)
            && let Some(&component) = components.get(*index as usize)
        {
            let last = self.path.len() - 1;
            self.path[last] = Step::Field(u32::from(component));
            return self;
        }
        if let (Some(Step::Swizzle(outer)), Step::Swizzle(inner)) = (self.path.last(), &step) {
            let both = inner.iter().filter_map(|&index| outer.get(usize::from(index)).copied()).collect();
            let last = self.path.len() - 1;
            self.path[last] = Step::Swizzle(both);
            return self;
        }
        self.path.push(step);
        self
    }
}

impl From<Value> for Slot {
    fn from(value: Value) -> Slot {
        match value {
            Value::Aggregate(parts) => Slot::Aggregate(parts.into_iter().map(Slot::from).collect()),
            value => Slot::Scalar(value),
        }
    }
}

impl Slot {
    pub(super) const UNKNOWN: Slot = Slot::Scalar(Value::Unknown);

    /// Number of parts, which is the cost of a copy.
    pub(super) fn size(&self) -> u64 {
        match self {
            Slot::Aggregate(parts) => 1 + parts.iter().map(Slot::size).sum::<u64>(),
            _ => 1,
        }
    }

    /// The part of a value that `step` leads to.
    pub(super) fn part(&self, step: &Step) -> Result<Slot, Missing> {
        match self {
            Slot::Scalar(Value::Unknown) => Ok(Slot::UNKNOWN),
            Slot::Uninit => Ok(Slot::Uninit),
            Slot::Aggregate(parts) => match step {
                Step::Field(index) => parts.get(*index as usize).cloned().ok_or(Missing::Field),
                Step::Element(index) => {
                    parts.get(*index as usize).cloned().ok_or(Missing::Element(*index, parts.len()))
                }
                Step::Swizzle(components) => swizzle(parts, components),
            },
            _ => Err(Missing::Field),
        }
    }
}

fn swizzle(parts: &[Slot], components: &[u8]) -> Result<Slot, Missing> {
    let part = |&component: &u8| parts.get(usize::from(component)).cloned().ok_or(Missing::Field);
    match components {
        [component] => part(component),
        _ => components.iter().map(part).collect::<Result<_, _>>().map(Slot::Aggregate),
    }
}

/// Reason why a step leads nowhere.
#[derive(Debug)]
pub(super) enum Missing {
    /// Not the active field of a union.
    Field,
    /// Past the end of an array: the index and the length.
    Element(u64, usize),
    /// The object's lifetime has ended.
    Object,
}

impl Missing {
    pub(super) fn reason(self, action: &str) -> String {
        match self {
            Missing::Field => {
                format!("{action} of member of union that is not active is not allowed in a constant expression")
            }
            Missing::Element(index, len) if index == len as u64 => {
                format!("{action} of dereferenced one-past-the-end pointer is not allowed in a constant expression")
            }
            Missing::Element(index, len) => {
                format!("cannot refer to element {index} of array of {len} elements in a constant expression")
            }
            Missing::Object => {
                format!("{action} of object outside its lifetime is not allowed in a constant expression")
            }
        }
    }
}

/// A variable, temporary or object under construction.
#[derive(Debug)]
struct Object {
    ty: Ty,
    value: Slot,
}

/// All objects, including those whose lifetime has ended.
#[derive(Debug, Default)]
pub(super) struct Memory {
    objects: Vec<Option<Object>>,
}

impl Memory {
    /// A new object.
    pub(super) fn add(&mut self, ty: Ty, value: Slot) -> usize {
        self.objects.push(Some(Object { ty, value }));
        self.objects.len() - 1
    }

    /// The number that the next object gets.
    pub(super) fn next(&self) -> usize {
        self.objects.len()
    }

    /// Ends the lifetime of one object; returns its value.
    pub(super) fn remove(&mut self, object: usize) -> Option<Slot> {
        self.objects.get_mut(object)?.take().map(|object| object.value)
    }

    /// Ends the lifetime of all objects from `first` on.
    pub(super) fn remove_from(&mut self, first: usize) {
        for object in &mut self.objects[first..] {
            *object = None;
        }
    }

    /// The value in an object at a path.
    pub(super) fn read(&self, object: usize, path: &[Step]) -> Result<Slot, Missing> {
        let object = self.objects.get(object).and_then(Option::as_ref).ok_or(Missing::Object)?;
        let mut slot = &object.value;
        for step in path {
            match (slot, step) {
                (Slot::Aggregate(parts), Step::Field(index)) if parts.len() > *index as usize => {
                    slot = &parts[*index as usize];
                }
                (Slot::Aggregate(parts), Step::Element(index)) if (parts.len() as u64) > *index => {
                    slot = &parts[*index as usize];
                }
                // A swizzle is the last step; so is every step into a value that is not an aggregate.
                _ => return slot.part(step),
            }
        }
        Ok(slot.clone())
    }

    /// Stores `value` into an object at a path; returns the number of parts that it created.
    pub(super) fn write(
        &mut self,
        types: &Types,
        object: usize,
        path: &[Step],
        value: Slot,
        limit: u64,
    ) -> Result<u64, WriteError> {
        let object = self.objects.get_mut(object).and_then(Option::as_mut).ok_or(Missing::Object)?;
        let (mut ty, mut slot) = (object.ty, &mut object.value);
        let mut made = 0;
        let mut value = value;
        for step in path {
            if *slot == Slot::UNKNOWN {
                return Err(WriteError::Unknown);
            }
            if *slot == Slot::Uninit {
                let parts = part_count(types, ty).unwrap_or(0);
                made += parts;
                if made > limit {
                    return Err(WriteError::TooLarge);
                }
                // A matrix gets its components at once: a column's type need not exist.
                let part = match *types.kind(ty) {
                    TyKind::Matrix { rows, .. } => Slot::Aggregate(vec![Slot::Uninit; usize::from(rows)]),
                    _ => Slot::Uninit,
                };
                *slot = Slot::Aggregate(vec![part; parts as usize]);
            }
            let Slot::Aggregate(parts) = slot else { return Err(Missing::Field.into()) };
            match step {
                Step::Field(index) => {
                    let index = *index as usize;
                    if is_union(types, ty) && parts.len() != index + 1 {
                        *parts = vec![Slot::Uninit; index + 1];
                    }
                    if let Some(field) = types.struct_id(ty).and_then(|id| types.struct_(id).fields.get(index)) {
                        value = in_bits(types, field, value);
                    }
                    ty = part_type(types, ty, step);
                    slot = parts.get_mut(index).ok_or(Missing::Field)?;
                }
                Step::Element(index) => {
                    let len = parts.len();
                    ty = part_type(types, ty, step);
                    slot = parts.get_mut(*index as usize).ok_or(Missing::Element(*index, len))?;
                }
                Step::Swizzle(components) => {
                    store_swizzle(parts, components, value)?;
                    return Ok(made);
                }
            }
        }
        *slot = value;
        Ok(made)
    }

    /// The type at a location.
    pub(super) fn type_of(&self, program: &Program, place: &Location) -> Option<Ty> {
        let ty = match place.root {
            Root::Object(object) => self.objects.get(object)?.as_ref()?.ty,
            Root::Global(id) => program.global(id).ty.ty,
        };
        Some(place.path.iter().fold(ty, |ty, step| part_type(&program.types, ty, step)))
    }
}

/// Reason that a value cannot be stored.
pub(super) enum WriteError {
    Missing(Missing),
    Unknown,
    TooLarge,
}

impl From<Missing> for WriteError {
    fn from(missing: Missing) -> Self {
        WriteError::Missing(missing)
    }
}

fn store_swizzle(parts: &mut [Slot], components: &[u8], value: Slot) -> Result<(), Missing> {
    let values = match value {
        Slot::Aggregate(values) => values,
        value => vec![value; components.len()],
    };
    for (&component, value) in components.iter().zip(values) {
        *parts.get_mut(usize::from(component)).ok_or(Missing::Field)? = value;
    }
    Ok(())
}

/// A value as a field holds it: an integer keeps the low bits that a bit-field has.
pub(super) fn in_bits(types: &Types, field: &Field, value: Slot) -> Slot {
    let (Some((_, width)), Slot::Scalar(Value::Int(number))) = (field.bits, &value) else { return value };
    let ty = types.enum_id(field.ty.ty).map_or(field.ty.ty, |id| types.enum_(id).underlying);
    let is_signed = types.int_kind(ty).is_some_and(IntKind::is_signed);
    let shift = 128 - width.clamp(1, 128);
    let high = number << shift;
    Slot::Scalar(Value::Int(if is_signed { high >> shift } else { (high as u128 >> shift) as i128 }))
}

fn is_union(types: &Types, ty: Ty) -> bool {
    types.struct_id(ty).is_some_and(|id| types.struct_(id).is_union)
}

/// Number of parts of a new object of type `ty`; a union has none until one is stored.
fn part_count(types: &Types, ty: Ty) -> Option<u64> {
    match *types.kind(ty) {
        TyKind::Vector { len, .. } | TyKind::PackedVector { len, .. } => Some(u64::from(len)),
        TyKind::Matrix { columns, .. } => Some(u64::from(columns)),
        TyKind::Array { len, .. } => len,
        TyKind::Struct(id) if types.struct_(id).is_union => Some(0),
        TyKind::Struct(id) => Some(types.struct_(id).fields.len() as u64),
        _ => None,
    }
}

/// The type of a part; [`Ty::ERROR`] where there is none, and for swizzles and columns, whose types need not exist.
fn part_type(types: &Types, ty: Ty, step: &Step) -> Ty {
    match (types.kind(ty), step) {
        (TyKind::Struct(id), Step::Field(index)) => {
            types.struct_(*id).fields.get(*index as usize).map_or(Ty::ERROR, |field| field.ty.ty)
        }
        (TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. }, Step::Field(_)) => *element,
        (TyKind::Array { element, .. }, Step::Element(_)) => *element,
        _ => Ty::ERROR,
    }
}

/// A slot as a constant: no addresses, nothing uninitialized. An empty struct may be "uninitialized"
/// because nothing is stored into it.
pub(super) fn export(types: &Types, slot: Slot, ty: Ty) -> Result<Value, String> {
    match (slot, types.kind(ty)) {
        (Slot::Scalar(value), _) => Ok(value),
        (Slot::Uninit, TyKind::Void) => Ok(Value::Aggregate(Vec::new())),
        (Slot::Aggregate(parts), TyKind::Struct(id)) => {
            let definition = types.struct_(*id);
            if definition.is_union && parts.len() > 1 {
                return Err("union whose active member is not its first is not supported in a constant".into());
            }
            let exported =
                parts.into_iter().zip(&definition.fields).map(|(part, field)| export_field(types, part, field));
            exported.collect::<Result<_, _>>().map(Value::Aggregate)
        }
        (Slot::Uninit, TyKind::Struct(id)) => {
            let fields = types.struct_(*id).fields.iter();
            let exported = fields.map(|field| export_field(types, Slot::Uninit, field));
            exported.collect::<Result<_, _>>().map(Value::Aggregate)
        }
        (Slot::Aggregate(parts), kind) => {
            let element = match kind {
                TyKind::Array { element, .. } => *element,
                _ => Ty::ERROR,
            };
            parts
                .into_iter()
                .map(|part| export(types, part, element))
                .collect::<Result<_, _>>()
                .map(Value::Aggregate)
        }
        (Slot::Uninit, _) => Err(UNINITIALIZED.into()),
        (Slot::Address(_), TyKind::Reference { .. }) => Err("reference to an object is not a constant".into()),
        (Slot::Address(_), _) => Err("pointer to an object is not a constant".into()),
    }
}

fn export_field(types: &Types, slot: Slot, field: &Field) -> Result<Value, String> {
    // Nothing initializes an unnamed bit-field.
    if field.is_padding() {
        return Ok(Value::Int(0));
    }
    export(types, slot, field.ty.ty).map_err(|reason| in_field(reason, &field.name))
}

const UNINITIALIZED: &str = "object is not initialized";

fn in_field(reason: String, name: &str) -> String {
    if reason == UNINITIALIZED && !name.is_empty() {
        format!("subobject '{name}' is not initialized")
    } else {
        reason
    }
}

/// The value of a global at a path, without a copy of all of it.
pub(super) fn read_global(value: &Value, path: &[Step]) -> Result<Slot, Missing> {
    let mut value = value;
    for step in path {
        let Value::Aggregate(parts) = value else {
            return if *value == Value::Unknown { Ok(Slot::UNKNOWN) } else { Err(Missing::Field) };
        };
        value = match step {
            Step::Field(index) => parts.get(*index as usize).ok_or(Missing::Field)?,
            Step::Element(index) => parts.get(*index as usize).ok_or(Missing::Element(*index, parts.len()))?,
            Step::Swizzle(_) => return Slot::from(value.clone()).part(step),
        };
    }
    Ok(Slot::from(value.clone()))
}

/// Stops unless a value is known.
pub(super) fn known(slot: Slot) -> Result<Slot, Interrupt> {
    if slot == Slot::UNKNOWN { Err(Interrupt::Unknown) } else { Ok(slot) }
}
