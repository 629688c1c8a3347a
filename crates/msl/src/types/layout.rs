//! Sizes and alignments, as the Metal specification gives them: a three-component vector takes the room of four, a
//! packed one does not, a matrix is an array of its columns. Structs are laid out as clang does for Apple's ARM64, by
//! the Itanium C++ ABI: bit-fields of any types share bytes with each other and with the members behind them, and a
//! derived class uses the tail padding of a base class that is no POD. `packed` and `#pragma pack` are clang's for
//! Apple targets, where `packed` holds for members of every class.

use super::{Field, FloatKind, StructId, Ty, TyKind, Types};
use rustc_hash::FxHashSet as HashSet;

/// A size and an alignment in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// The size.
    pub size: u64,
    /// The alignment, at least 1.
    pub align: u64,
}

impl Layout {
    fn scalar(size: u64) -> Layout {
        Layout { size, align: size }
    }

    /// `offset` rounded up to this alignment.
    pub fn align_up(self, offset: u64) -> u64 {
        offset.div_ceil(self.align.max(1)).saturating_mul(self.align.max(1))
    }
}

/// A texture, sampler or other resource in memory: its `MTLResourceID`, as in argument buffers of Metal 3.
const HANDLE: Layout = Layout { size: 8, align: 8 };

impl Types {
    /// The layout of `ty`; `None` where it has none: `void`, functions, incomplete types.
    pub fn layout(&self, ty: Ty) -> Option<Layout> {
        Some(match self.kind(ty) {
            TyKind::Bool => Layout::scalar(1),
            TyKind::Int(kind) => Layout::scalar(u64::from(kind.bits() / 8)),
            TyKind::Float(FloatKind::Float) => Layout::scalar(4),
            TyKind::Float(_) => Layout::scalar(2),
            TyKind::Pointer(_) | TyKind::Reference { .. } | TyKind::NullPtr => Layout::scalar(8),
            // As in the Itanium C++ ABI: a pointer to a function comes with a change of its object.
            TyKind::MemberPointer { member, .. } if self.is_function(member.ty) => Layout { size: 16, align: 8 },
            TyKind::MemberPointer { .. } => Layout::scalar(8),
            TyKind::Vector { element, len } => {
                let slots = if *len == 3 { 4 } else { u64::from(*len) };
                Layout::scalar(self.layout(*element)?.size * slots)
            }
            TyKind::PackedVector { element, len } => {
                let element = self.layout(*element)?;
                Layout { size: element.size * u64::from(*len), align: element.align }
            }
            TyKind::Matrix { element, columns, rows } => {
                let slots = if *rows == 3 { 4 } else { u64::from(*rows) };
                let column = self.layout(*element)?.size * slots;
                Layout { size: column * u64::from(*columns), align: column }
            }
            // Storage for all 64 components in every thread, of which the first two are the thread's own.
            TyKind::SimdgroupMatrix { element } => Layout::scalar(self.layout(*element)?.size * 64),
            TyKind::Atomic(element) => self.layout(*element)?,
            TyKind::Array { element, len } => {
                let element = self.layout(*element)?;
                Layout { size: element.size.checked_mul((*len)?)?, align: element.align }
            }
            TyKind::Struct(id) => {
                let definition = self.struct_(*id);
                if !definition.is_complete {
                    return None;
                }
                match definition.is_opaque {
                    true => HANDLE,
                    false => definition.layout,
                }
            }
            TyKind::Enum(id) => self.layout(self.enum_(*id).underlying)?,
            TyKind::Error | TyKind::Dependent | TyKind::Void | TyKind::Function { .. } => return None,
        })
    }

    /// Bytes of an object of type `ty` that a copy must write: for a struct without its tail padding, where members of
    /// a derived class may lie.
    pub fn data_size(&self, ty: Ty) -> Option<u64> {
        match self.struct_id(ty) {
            Some(id) => self.layout(ty).map(|_| self.struct_(id).data_size),
            None => self.layout(ty).map(|layout| layout.size),
        }
    }

    /// Returns true for a class without members, which takes no room as a base class.
    pub(crate) fn is_empty_class(&self, ty: Ty) -> bool {
        self.struct_id(ty).is_some_and(|id| self.struct_(id).is_empty)
    }

    /// Gives the fields of a struct their offsets, and the struct its size, as the Itanium C++ ABI does.
    pub(crate) fn lay_out(&mut self, id: StructId, rules: LayoutRules) {
        let mut builder = Builder::new(self, id, rules);
        let mut places = Vec::new();
        for field in &self.struct_(id).fields {
            places.push(match field.bits {
                Some((_, width)) => builder.bit_field(field, width),
                None if field.is_base => (builder.base(field), None),
                None => (builder.member(field), None),
            });
        }
        let Builder { size: unpadded, align, largest_empty, .. } = builder;
        let definition = self.struct_(id);
        let is_empty = definition.fields.iter().all(|field| match field.bits {
            Some((_, width)) => width == 0,
            None => field.is_base && self.is_empty_class(field.ty.ty),
        });
        let layout = Layout { size: unpadded.max(1), align };
        let size = layout.align_up(layout.size);
        let data_size = match (is_empty, rules.is_pod) {
            (true, _) => 0,
            (false, true) => size,
            (false, false) => unpadded,
        };
        let definition = self.struct_mut(id);
        for (field, (offset, bits)) in definition.fields.iter_mut().zip(places) {
            field.offset = offset;
            field.bits = bits;
        }
        definition.layout = Layout { size, align };
        definition.data_size = data_size;
        definition.is_pod = rules.is_pod;
        definition.is_empty = is_empty;
        definition.largest_empty = if is_empty { size } else { largest_empty };
        definition.is_complete = true;
    }
}

/// Properties of a class that its layout depends on, besides its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayoutRules {
    /// Alignment from `alignas`; 1 without it.
    pub(crate) min_align: u64,
    /// A POD of C++11: a derived class does not reuse its tail padding.
    pub(crate) is_pod: bool,
    /// `__attribute__((packed))`: its members lie at any byte.
    pub(crate) is_packed: bool,
    /// Most alignment of a member, from `#pragma pack`.
    pub(crate) max_align: Option<u64>,
}

impl LayoutRules {
    /// The rules without attributes and pragmas.
    pub(crate) fn plain(is_pod: bool) -> LayoutRules {
        LayoutRules { min_align: 1, is_pod, is_packed: false, max_align: None }
    }
}

/// Places the fields of one struct, in order.
struct Builder<'t> {
    types: &'t Types,
    is_union: bool,
    /// Bytes up to the end of the last field.
    data_size: u64,
    /// `data_size`, or more for empty base classes.
    size: u64,
    align: u64,
    /// Bits of the last byte that the bit-field there leaves free.
    free_bits: u32,
    /// Empty subobjects of the base classes: two of the same type have different addresses.
    empties: Vec<(StructId, u64)>,
    /// Size of the largest empty subobject.
    largest_empty: u64,
    is_packed: bool,
    max_align: Option<u64>,
}

impl<'t> Builder<'t> {
    fn new(types: &'t Types, id: StructId, rules: LayoutRules) -> Builder<'t> {
        let definition = types.struct_(id);
        let largest_empty = definition.fields.iter().map(|field| largest_empty(types, field.ty.ty)).max();
        Builder {
            types,
            is_union: definition.is_union,
            data_size: 0,
            size: 0,
            align: rules.min_align.max(1),
            free_bits: 0,
            empties: Vec::new(),
            largest_empty: largest_empty.unwrap_or(0),
            is_packed: rules.is_packed,
            max_align: rules.max_align,
        }
    }

    /// The layout of a field by its type alone.
    fn natural(&self, field: &Field) -> Layout {
        self.types.layout(field.ty.ty).unwrap_or(Layout { size: 0, align: 1 })
    }

    /// The layout of a member: `#pragma pack` limits even `aligned`, which `packed` does not.
    fn layout(&self, field: &Field) -> Layout {
        let layout = self.natural(field);
        let natural = if self.is_packed || field.is_packed { 1 } else { layout.align };
        Layout { align: self.limited(natural.max(field.min_align)), ..layout }
    }

    fn limited(&self, align: u64) -> u64 {
        self.max_align.map_or(align, |most| align.min(most))
    }

    /// The offset of a base class.
    fn base(&mut self, field: &Field) -> u64 {
        let ty = field.ty.ty;
        // `packed` is about members; `#pragma pack` spares an empty base class at the start.
        let mut layout = self.natural(field);
        let is_empty = self.types.is_empty_class(ty);
        let is_at_start = is_empty && !self.meets_empty(ty, 0);
        if !is_at_start {
            layout.align = self.limited(layout.align);
        }
        let mut offset = if is_at_start { 0 } else { layout.align_up(self.data_size) };
        while self.meets_empty(ty, offset) {
            offset = offset.saturating_add(layout.align);
        }
        // The empty subobjects of other base classes can meet only empty base classes that are placed at 0 later.
        let last = if is_empty { u64::MAX } else { self.largest_empty.saturating_sub(1) };
        self.empties.extend(Empties::new(self.types, last).of(ty, offset));
        if is_empty {
            self.size = self.size.max(offset.saturating_add(layout.size));
        } else {
            self.data_size = offset.saturating_add(self.types.data_size(ty).unwrap_or(0));
            self.size = self.size.max(self.data_size);
        }
        self.align = self.align.max(layout.align);
        offset
    }

    /// The offset of a member that is no bit-field: the next byte aligned for it.
    fn member(&mut self, field: &Field) -> u64 {
        self.free_bits = 0;
        let layout = self.layout(field);
        let mut offset = if self.is_union { 0 } else { layout.align_up(self.data_size) };
        while self.meets_empty(field.ty.ty, offset) {
            offset = offset.saturating_add(layout.align);
        }
        self.data_size = self.data_size.max(offset.saturating_add(layout.size));
        self.size = self.size.max(self.data_size);
        self.align = self.align.max(layout.align);
        offset
    }

    /// The unit of a bit-field's type that holds it, and its place there. It starts at the next free bit unless it
    /// would cross the end of a unit.
    fn bit_field(&mut self, field: &Field, width: u32) -> (u64, Option<(u32, u32)>) {
        let mut layout = self.natural(field);
        let is_packed = self.is_packed || field.is_packed;
        let unpacked = layout.align.max(field.min_align);
        // `packed` and `#pragma pack` leave one of width 0 alone. Both together: the pragma counts.
        layout.align = match (is_packed && width != 0, self.max_align.filter(|_| width != 0)) {
            (_, Some(most)) => unpacked.min(most),
            (true, None) => field.min_align,
            (false, None) => unpacked,
        };
        let (unit_bits, align_bits) = (u128::from(layout.size) * 8, u128::from(layout.align) * 8);
        let mut start = match self.is_union {
            true => 0,
            false => u128::from(self.data_size) * 8 - u128::from(self.free_bits),
        };
        // A packed one has an alignment of one bit for this.
        let granule = if is_packed && width != 0 && field.min_align <= 1 { 1 } else { align_bits };
        let is_crossing = self.max_align.is_none() && start % granule + u128::from(width) > unit_bits;
        if width == 0 || is_crossing {
            start = start.next_multiple_of(granule);
        } else if field.min_align > 1 && self.max_align.is_none_or(|most| field.min_align <= most) {
            start = start.next_multiple_of(u128::from(field.min_align) * 8);
        }
        let end = start + u128::from(width);
        let data_size = u64::try_from(end.div_ceil(8)).unwrap_or(u64::MAX);
        if self.is_union {
            self.data_size = self.data_size.max(data_size);
        } else {
            self.data_size = data_size;
            self.free_bits = (end.next_multiple_of(8) - end) as u32;
        }
        self.size = self.size.max(self.data_size);
        // An unnamed bit-field does not align its struct.
        if !field.name.is_empty() {
            self.align = self.align.max(layout.align);
        }
        let byte = u64::try_from(start / 8).unwrap_or(u64::MAX);
        let mut unit = byte / layout.size.max(1) * layout.size.max(1);
        // A packed one may cross units, and then begins in the first byte of its own.
        if start - u128::from(unit) * 8 + u128::from(width) > unit_bits {
            unit = byte;
        }
        let first = start.saturating_sub(u128::from(unit) * 8) as u32;
        (unit, Some((first, width)))
    }

    /// Returns true if an empty subobject of `ty` at `offset` is at the address of one of the same type.
    fn meets_empty(&self, ty: Ty, offset: u64) -> bool {
        let Some(last) = self.empties.iter().map(|(_, at)| *at).max() else { return false };
        Empties::new(self.types, last).of(ty, offset).iter().any(|empty| self.empties.contains(empty))
    }
}

/// Size of the largest empty class in `ty`; 0 without one.
fn largest_empty(types: &Types, ty: Ty) -> u64 {
    match *types.kind(ty) {
        TyKind::Array { element, .. } => largest_empty(types, element),
        TyKind::Struct(id) => types.struct_(id).largest_empty,
        _ => 0,
    }
}

/// A search for the empty subobjects of a type.
struct Empties<'t> {
    types: &'t Types,
    /// The last offset of interest.
    last: u64,
    /// Structs with their offsets: in nested unions, the same one may be met again and again.
    met: HashSet<(StructId, u64)>,
    found: Vec<(StructId, u64)>,
}

impl<'t> Empties<'t> {
    fn new(types: &'t Types, last: u64) -> Empties<'t> {
        Empties { types, last, met: HashSet::default(), found: Vec::new() }
    }

    /// The empty subobjects of `ty` at `offset`.
    fn of(mut self, ty: Ty, offset: u64) -> Vec<(StructId, u64)> {
        self.visit(ty, offset);
        self.found
    }

    fn visit(&mut self, ty: Ty, offset: u64) {
        if offset > self.last || largest_empty(self.types, ty) == 0 {
            return;
        }
        match *self.types.kind(ty) {
            TyKind::Array { element, len } => {
                let stride = self.types.layout(element).map_or(1, |layout| layout.size.max(1));
                let reached = (self.last - offset) / stride + 1;
                for index in 0..len.unwrap_or(0).min(reached) {
                    self.visit(element, offset + index * stride);
                }
            }
            TyKind::Struct(id) if self.met.insert((id, offset)) => {
                let definition = self.types.struct_(id);
                if definition.is_empty {
                    self.found.push((id, offset));
                }
                for field in &definition.fields {
                    self.visit(field.ty.ty, offset.saturating_add(field.offset));
                }
            }
            _ => {}
        }
    }
}
