//! Places: addresses of values, and reads and writes there.

use super::{Error, Lowering, Result, access};
use inkwell::types::{BasicType, BasicTypeEnum, IntType};
use inkwell::values::{BasicValue, BasicValueEnum, IntValue, PointerValue};
use msl::program::{Expr, ExprKind};
use msl::types::{QualTy, Ty, TyKind};
use std::cmp::Ordering;
use std::collections::HashSet;

/// A place in memory.
#[derive(Clone)]
pub(crate) enum Place<'ctx> {
    /// At an address.
    Memory(PointerValue<'ctx>),
    /// Several components of the vector at an address.
    Components { vector: PointerValue<'ctx>, vector_ty: Ty, components: Vec<u8> },
    /// Some bits of the integer at an address, which other members may share.
    Bits { unit: PointerValue<'ctx>, first: u32, width: u32 },
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    /// The address of a place that has one.
    pub(crate) fn address(&mut self, expr: &'p Expr) -> Result<PointerValue<'ctx>> {
        match self.place(expr)? {
            Place::Memory(pointer) => Ok(pointer),
            // A reference to a swizzle or bit-field is one to a copy; the checker allows only constant ones.
            place => {
                let value = self.load_place(&place, expr.ty)?;
                let copy = self.alloca(expr.ty.ty)?;
                self.store(copy, QualTy::plain(expr.ty.ty), value)?;
                Ok(copy)
            }
        }
    }

    pub(crate) fn place(&mut self, expr: &'p Expr) -> Result<Place<'ctx>> {
        match &expr.kind {
            ExprKind::Local(id) => Ok(Place::Memory(self.local(*id)?)),
            _ => self.at(expr.span, |this| this.place_of(expr)),
        }
    }

    fn place_of(&mut self, expr: &'p Expr) -> Result<Place<'ctx>> {
        Ok(match &expr.kind {
            ExprKind::Global(id) => Place::Memory(self.global(*id)?),
            ExprKind::Constant(msl::program::Value::Str(text)) => Place::Memory(self.string(text)),
            ExprKind::Deref(pointer) => Place::Memory(self.value(pointer)?.into_pointer_value()),
            ExprKind::Field { base, field } => self.field(base, *field)?,
            ExprKind::Index { base, index } => Place::Memory(self.element(base, index)?),
            ExprKind::Swizzle { base, components } => self.swizzle_place(base, components)?,
            ExprKind::ThreadElements(matrix) => Place::Memory(self.address(matrix)?),
            ExprKind::Temporary(value) => {
                let place = self.alloca(value.ty.ty)?;
                self.initialize(place, value, QualTy::plain(value.ty.ty))?;
                Place::Memory(place)
            }
            ExprKind::Assign { place, value } => self.assign(place, value)?,
            ExprKind::CompoundAssign { op, place, compute, value } => {
                self.compound_assign(*op, place, *compute, value)?
            }
            ExprKind::Increment { place, is_decrement, .. } => self.increment(place, *is_decrement)?.0,
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.place(second)?
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                if let Some(chosen) = msl::walk::chosen(expr) {
                    return Ok(Place::Memory(self.address(chosen)?));
                }
                let [(first, yes_end), (second, no_end)] =
                    self.either(condition, then, otherwise, Self::address)?;
                let phi = self.builder.build_phi(first.get_type(), "")?;
                phi.add_incoming(&[(&first, yes_end), (&second, no_end)]);
                Place::Memory(phi.as_basic_value().into_pointer_value())
            }
            // A value in the role of a place: it gets memory.
            _ => {
                let place = self.alloca(expr.ty.ty)?;
                self.initialize(place, expr, QualTy::plain(expr.ty.ty))?;
                Place::Memory(place)
            }
        })
    }

    fn field(&mut self, base: &'p Expr, field: u32) -> Result<Place<'ctx>> {
        let address = self.address(base)?;
        let types = &self.program.types;
        let id = types.struct_id(base.ty.ty).ok_or_else(|| Error::Internal("a field of no struct".into()))?;
        let field = &types.struct_(id).fields[field as usize];
        let (offset, bits, ty) = (field.offset, field.bits, field.ty.ty);
        let is_shared = types.struct_(id).is_union;
        let place = self.member(address, offset)?;
        self.note_field_alignment(address, base.ty.ty, place, offset, ty);
        match is_shared {
            true => self.mark_shared(place),
            false => {
                self.mark_like(address, place);
                self.mark_member(address, place, access::Member { base: base.ty.ty, offset, ty });
            }
        }
        Ok(match bits {
            Some((first, width)) => Place::Bits { unit: place, first, width },
            None => Place::Memory(place),
        })
    }

    /// The address of a member. In a library, the first one has another address than the struct, so that it can be
    /// described.
    fn member(&self, address: PointerValue<'ctx>, offset: u64) -> Result<PointerValue<'ctx>> {
        if offset != 0 || !self.is_for_library {
            return self.offset(address, offset);
        }
        let zero = self.context.i64_type().const_zero();
        // SAFETY: the address of the object itself.
        let place = unsafe { self.builder.build_in_bounds_gep(self.context.i8_type(), address, &[zero], "")? };
        self.weak.derive(address, place, 0);
        Ok(place)
    }

    /// The address `offset` bytes further.
    pub(crate) fn offset(&self, address: PointerValue<'ctx>, offset: u64) -> Result<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(address);
        }
        let index = self.context.i64_type().const_int(offset, false);
        // SAFETY: the offset is inside the object: it is that of a field, column or element by its layout.
        let place = unsafe { self.builder.build_in_bounds_gep(self.context.i8_type(), address, &[index], "")? };
        self.weak.derive(address, place, offset);
        Ok(place)
    }

    /// A pointer to a base class at this offset, or back; a null pointer stays one.
    pub(super) fn step_to_base(&self, pointer: PointerValue<'ctx>, offset: i64) -> Result<PointerValue<'ctx>> {
        let moved = self.offset(pointer, offset as u64)?;
        let is_null = self.builder.build_is_null(pointer, "")?;
        let null = pointer.get_type().const_null();
        let place = self.builder.build_select(is_null, null, moved, "")?.into_pointer_value();
        self.weak.derive(pointer, place, offset as u64);
        Ok(place)
    }

    fn element(&mut self, base: &'p Expr, index: &'p Expr) -> Result<PointerValue<'ctx>> {
        let address = self.address(base)?;
        let index = self.value(index)?.into_int_value();
        let element = match *self.program.types.kind(base.ty.ty) {
            TyKind::Array { element, .. } => self.element_type(element)?,
            TyKind::Vector { element, .. } | TyKind::PackedVector { element, .. } => self.memory_type(element)?,
            TyKind::Matrix { .. } => self.column_type(base.ty.ty)?,
            _ => return Err(Error::Internal("an index into nothing".into())),
        };
        let array = self.inner_array(base, address, element)?;
        let place = self.step(array, element, index)?;
        self.mark_like(address, place);
        Ok(place)
    }

    /// In code for shader validation, the same address by an instruction that has the type of an array which is a part of
    /// another object: a row, or a field. Checks see its length there (`crate::instrument`).
    fn inner_array(
        &self,
        array: &Expr,
        address: PointerValue<'ctx>,
        element: BasicTypeEnum<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        let len = match *self.program.types.kind(array.ty.ty) {
            TyKind::Array { len: Some(len), .. } => u32::try_from(len).unwrap_or(0),
            _ => 0,
        };
        let is_inner = matches!(array.kind, ExprKind::Field { .. } | ExprKind::Index { .. });
        // An array of one element at the end of a struct may have more.
        if !self.is_checked || !is_inner || len <= 1 {
            return Ok(address);
        }
        let zero = self.context.i64_type().const_zero();
        // SAFETY: the address of the array itself.
        let place = unsafe { self.builder.build_in_bounds_gep(element.array_type(len), address, &[zero], "")? };
        self.weak.derive(address, place, 0);
        Ok(place)
    }

    /// The address of element `index` of an array of `element`s.
    pub(crate) fn step(
        &self,
        address: PointerValue<'ctx>,
        element: BasicTypeEnum<'ctx>,
        index: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        // SAFETY: as in the source, an index past the end of the object is the program's fault.
        let place = unsafe { self.builder.build_in_bounds_gep(element, address, &[index], "")? };
        self.note_element_alignment(address, place, element);
        Ok(place)
    }

    fn swizzle_place(&mut self, base: &'p Expr, components: &[u8]) -> Result<Place<'ctx>> {
        let (vector, vector_ty, components) = match self.place(base)? {
            Place::Memory(vector) => (vector, base.ty.ty, components.to_vec()),
            Place::Components { vector, vector_ty, components: outer } => {
                let components = components.iter().map(|&c| outer[usize::from(c)]).collect();
                (vector, vector_ty, components)
            }
            Place::Bits { .. } => return Err(Error::Internal("a swizzle of a bit-field".into())),
        };
        if let [component] = *components {
            let element = self.program.types.element_of(vector_ty);
            let index = self.context.i64_type().const_int(u64::from(component), false);
            let memory = self.memory_type(element)?;
            let place = self.step(vector, memory, index)?;
            self.mark_like(vector, place);
            return Ok(Place::Memory(place));
        }
        Ok(Place::Components { vector, vector_ty, components })
    }

    // --- reading and writing -----------------------------------------------------------------------------------

    /// Reads a place of type `ty`, whose qualifiers are those of the expression that denotes the place.
    pub(crate) fn load_place(&mut self, place: &Place<'ctx>, ty: QualTy) -> Result<BasicValueEnum<'ctx>> {
        match place {
            Place::Memory(pointer) => self.load(*pointer, ty),
            Place::Components { vector, vector_ty, components } => {
                let whole = self.load(*vector, ty.with_ty(*vector_ty))?;
                self.shuffle(whole, components)
            }
            Place::Bits { unit, first, width } => self.load_bits(*unit, *first, *width, ty),
        }
    }

    /// Writes a place; `ty` as for [`Self::load_place`].
    pub(crate) fn store_place(
        &mut self,
        place: &Place<'ctx>,
        ty: QualTy,
        value: BasicValueEnum<'ctx>,
    ) -> Result<()> {
        match place {
            Place::Memory(pointer) => self.store(*pointer, ty, value),
            Place::Components { vector, vector_ty, components } => {
                let mut whole = self.load(*vector, ty.with_ty(*vector_ty))?.into_vector_value();
                let i32_type = self.context.i32_type();
                for (index, &component) in components.iter().enumerate() {
                    let from = i32_type.const_int(index as u64, false);
                    let to = i32_type.const_int(u64::from(component), false);
                    let part = self.builder.build_extract_element(value.into_vector_value(), from, "")?;
                    whole = self.builder.build_insert_element(whole, part, to, "")?;
                }
                self.store(*vector, ty.with_ty(*vector_ty), whole.into())
            }
            Place::Bits { unit, first, width } => self.store_bits(*unit, *first, *width, ty, value),
        }
    }

    /// Reads a bit-field from the bytes that hold bits of it.
    fn load_bits(
        &self,
        unit: PointerValue<'ctx>,
        first: u32,
        width: u32,
        qualified: QualTy,
    ) -> Result<BasicValueEnum<'ctx>> {
        let ty = qualified.ty;
        let int = self.memory_type(ty)?.into_int_type();
        let bits = int.get_bit_width();
        let mut whole = None;
        for piece in pieces(first, width) {
            let part = self.load_piece(unit, piece, qualified)?;
            // The first piece may begin before the bit-field, and be wider than its type.
            let part = self.shifted_right(part, first.saturating_sub(piece.first))?;
            let part = self.resized(part, int)?;
            let part = self.shifted_left(part, piece.first.saturating_sub(first))?;
            whole = Some(match whole {
                Some(lower) => self.builder.build_or(lower, part, "")?,
                None => part,
            });
        }
        let whole = whole.ok_or_else(|| Error::Internal("a bit-field without bits".into()))?;
        let high = self.shifted_left(whole, bits - width)?;
        let down = int.const_int(u64::from(bits - width), false);
        let value = match bits - width {
            0 => high,
            _ => self.builder.build_right_shift(high, down, self.is_signed(ty), "")?,
        };
        let register = self.register_type(ty)?.into_int_type();
        Ok(match register == int {
            true => value.into(),
            false => self.builder.build_int_truncate(value, register, "")?.into(),
        })
    }

    /// Writes a bit-field into the bytes that hold bits of it. All others may belong to members that another thread
    /// writes at the same time.
    fn store_bits(
        &self,
        unit: PointerValue<'ctx>,
        first: u32,
        width: u32,
        qualified: QualTy,
        value: BasicValueEnum<'ctx>,
    ) -> Result<()> {
        let ty = qualified.ty;
        let int = self.memory_type(ty)?.into_int_type();
        let value = self.builder.build_int_z_extend_or_bit_cast(value.into_int_value(), int, "")?;
        let field = (u128::MAX >> (128 - width)) << first;
        for piece in pieces(first, width) {
            let part = self.piece_type(piece);
            let all = u64::MAX >> (64 - piece.bits);
            let covered = (field >> piece.first) as u64 & all;
            let new = self.shifted_right(value, piece.first.saturating_sub(first))?;
            let new = self.resized(new, part)?;
            let mut new = self.shifted_left(new, first.saturating_sub(piece.first))?;
            if covered != all {
                let old = self.load_piece(unit, piece, qualified)?;
                let kept = self.builder.build_and(old, part.const_int(all & !covered, false), "")?;
                new = self.builder.build_and(new, part.const_int(covered, false), "")?;
                new = self.builder.build_or(kept, new, "")?;
            }
            let address = self.offset(unit, u64::from(piece.first / 8))?;
            let align = self.weak.limit(address, piece.bits / 8);
            if let Some(access) = self.coherent(address, qualified, align) {
                self.write_coherent(address, new.into(), access)?;
                continue;
            }
            let stored = self.builder.build_store(address, new)?;
            let _ = stored.set_alignment(align);
            let _ = stored.set_volatile(qualified.is_volatile);
        }
        Ok(())
    }

    fn piece_type(&self, piece: Piece) -> IntType<'ctx> {
        match piece.bits {
            8 => self.context.i8_type(),
            16 => self.context.i16_type(),
            32 => self.context.i32_type(),
            _ => self.context.i64_type(),
        }
    }

    fn load_piece(&self, unit: PointerValue<'ctx>, piece: Piece, qualified: QualTy) -> Result<IntValue<'ctx>> {
        let int = self.piece_type(piece);
        let address = self.offset(unit, u64::from(piece.first / 8))?;
        let align = self.weak.limit(address, piece.bits / 8);
        if let Some(access) = self.coherent(address, qualified, align) {
            return Ok(self.read_coherent(address, int.into(), access)?.into_int_value());
        }
        let loaded = self.builder.build_load(int, address, "")?;
        if let Some(instruction) = loaded.as_instruction_value() {
            let _ = instruction.set_alignment(align);
            let _ = instruction.set_volatile(qualified.is_volatile);
        }
        Ok(loaded.into_int_value())
    }

    fn shifted_right(&self, value: IntValue<'ctx>, count: u32) -> Result<IntValue<'ctx>> {
        let by = value.get_type().const_int(u64::from(count), false);
        Ok(if count == 0 { value } else { self.builder.build_right_shift(value, by, false, "")? })
    }

    fn resized(&self, value: IntValue<'ctx>, to: IntType<'ctx>) -> Result<IntValue<'ctx>> {
        Ok(match value.get_type().get_bit_width().cmp(&to.get_bit_width()) {
            Ordering::Less => self.builder.build_int_z_extend(value, to, "")?,
            Ordering::Equal => value,
            Ordering::Greater => self.builder.build_int_truncate(value, to, "")?,
        })
    }

    fn shifted_left(&self, value: IntValue<'ctx>, count: u32) -> Result<IntValue<'ctx>> {
        let by = value.get_type().const_int(u64::from(count), false);
        Ok(if count == 0 { value } else { self.builder.build_left_shift(value, by, "")? })
    }

    /// Reads a register type from memory.
    pub(crate) fn load(&self, pointer: PointerValue<'ctx>, qualified: QualTy) -> Result<BasicValueEnum<'ctx>> {
        let ty = qualified.ty;
        let memory = self.memory_type(ty)?;
        let align = self.align_at(pointer, ty)?;
        let loaded = match self.coherent(pointer, qualified, align) {
            Some(access) => self.read_coherent(pointer, memory, access)?,
            None => {
                let loaded = self.builder.build_load(memory, pointer, "")?;
                if let Some(instruction) = loaded.as_instruction_value() {
                    let _ = instruction.set_alignment(align);
                    let _ = instruction.set_volatile(qualified.is_volatile);
                    self.describe_access(instruction, pointer, ty);
                }
                loaded
            }
        };
        let register = self.register_type(ty)?;
        Ok(match (loaded, register) {
            (BasicValueEnum::IntValue(byte), BasicTypeEnum::IntType(bit)) if byte.get_type() != bit => {
                self.builder.build_int_truncate(byte, bit, "")?.into()
            }
            (BasicValueEnum::VectorValue(bytes), BasicTypeEnum::VectorType(bits)) if bytes.get_type() != bits => {
                self.builder.build_int_truncate(bytes, bits, "")?.into()
            }
            (loaded, _) => loaded,
        })
    }

    /// Writes a register type to memory.
    pub(crate) fn store(
        &self,
        pointer: PointerValue<'ctx>,
        qualified: QualTy,
        value: BasicValueEnum<'ctx>,
    ) -> Result<()> {
        let ty = qualified.ty;
        let memory = self.memory_type(ty)?;
        let value = match (value, memory) {
            (BasicValueEnum::IntValue(bit), BasicTypeEnum::IntType(byte)) if bit.get_type() != byte => {
                self.builder.build_int_z_extend(bit, byte, "")?.into()
            }
            (BasicValueEnum::VectorValue(bits), BasicTypeEnum::VectorType(bytes)) if bits.get_type() != bytes => {
                self.builder.build_int_z_extend(bits, bytes, "")?.into()
            }
            (value, _) => value,
        };
        let align = self.align_at(pointer, ty)?;
        if let Some(access) = self.coherent(pointer, qualified, align) {
            return self.write_coherent(pointer, value, access);
        }
        let stored = self.builder.build_store(pointer, value)?;
        let _ = stored.set_alignment(align);
        let _ = stored.set_volatile(qualified.is_volatile);
        self.describe_access(stored, pointer, ty);
        Ok(())
    }

    /// Copies a value that is no register type. Its qualifiers are those of the two places together, one of which is
    /// memory of the thread if there are any.
    pub(crate) fn copy(&self, to: PointerValue<'ctx>, from: PointerValue<'ctx>, qualified: QualTy) -> Result<()> {
        let QualTy { ty, is_volatile, .. } = qualified;
        let Some(size) = self.data_size(ty)? else { return Ok(()) };
        let (to_align, from_align) = (self.align_at(to, ty)?, self.align_at(from, ty)?);
        let (write, read) = (self.coherent(to, qualified, to_align), self.coherent(from, qualified, from_align));
        if write.is_some() || read.is_some() {
            let bytes = size.get_zero_extended_constant().unwrap_or(u64::MAX);
            return self.copy_coherent((to, write), (from, read), bytes, to_align.min(from_align));
        }
        let copied = self
            .builder
            .build_memcpy(to, to_align, from, from_align, size)
            .map_err(|error| Error::Internal(error.to_string()))?;
        if (is_volatile || self.has_volatile_field(ty, &mut HashSet::new()))
            && let Some(call) = copied.as_instruction_value()
        {
            const IS_VOLATILE: u32 = 3;
            call.set_operand(IS_VOLATILE, self.context.bool_type().const_int(1, false));
        }
        Ok(())
    }

    /// True if a field of a struct, or of a struct in it, is volatile. Each struct is `seen` once: with two fields of the
    /// struct before it, the number of fields doubles.
    fn has_volatile_field(&self, ty: Ty, seen: &mut HashSet<Ty>) -> bool {
        let types = &self.program.types;
        match *types.kind(ty) {
            TyKind::Struct(id) => {
                let mut fields = types.struct_(id).fields.iter();
                let is_new = seen.insert(ty);
                is_new && fields.any(|field| field.ty.is_volatile || self.has_volatile_field(field.ty.ty, seen))
            }
            TyKind::Array { element, .. } => self.has_volatile_field(element, seen),
            _ => false,
        }
    }

    /// Bytes that belong to an object of this type alone; `None` for no bytes, as of an empty class. The tail padding
    /// of a base class may hold members of the derived one.
    pub(crate) fn data_size(&self, ty: Ty) -> Result<Option<IntValue<'ctx>>> {
        let size = self.program.types.data_size(ty).unwrap_or(self.layout(ty)?.size);
        Ok((size != 0).then(|| self.context.i64_type().const_int(size, false)))
    }

    /// Makes a place hold a value for the first time. The qualifiers are those of the place.
    pub(crate) fn initialize(
        &mut self,
        place: PointerValue<'ctx>,
        value: &'p Expr,
        qualified: QualTy,
    ) -> Result<()> {
        let ty = value.ty.ty;
        let qualified = qualified.with_ty(ty);
        if self.is_register(ty) {
            let value = self.value(value)?;
            return self.store(place, qualified, value);
        }
        // Functions expect an object to be aligned for its type.
        if u64::from(self.align_at(place, ty)?) < self.layout(ty)?.align {
            let temporary = self.alloca(ty)?;
            self.aggregate_into(value, temporary)?;
            return self.copy(place, temporary, qualified);
        }
        // A constructor works on its object, whose `this` is neither volatile nor coherent.
        let is_plain = !qualified.is_volatile && qualified.coherence.is_none();
        if is_plain || matches!(value.kind, ExprKind::Construct { .. }) {
            return self.aggregate_into(value, place);
        }
        let temporary = self.alloca(ty)?;
        self.aggregate_into(value, temporary)?;
        self.copy(place, temporary, qualified)
    }

    fn assign(&mut self, place: &'p Expr, value: &'p Expr) -> Result<Place<'ctx>> {
        let (qualified, ty) = (place.ty, place.ty.ty);
        if self.is_register(ty) {
            let value = self.value(value)?;
            let place = self.place(place)?;
            self.store_place(&place, qualified, value)?;
            return Ok(place);
        }
        // The value may depend on the contents of the place: evaluate it first.
        let temporary = self.alloca(ty)?;
        self.aggregate_into(value, temporary)?;
        let to = self.address(place)?;
        self.copy(to, temporary, qualified)?;
        Ok(Place::Memory(to))
    }
}

/// Aligned part of a bit-field's unit, of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    /// Its first bit, counted from the unit's.
    first: u32,
    bits: u32,
}

/// The fewest pieces for the bytes that hold `width` bits from `first` on, and no other byte.
fn pieces(first: u32, width: u32) -> Vec<Piece> {
    let (mut at, end) = (first / 8, (first + width).div_ceil(8));
    let mut pieces = Vec::new();
    while at < end {
        let fits = |size: &u32| at.is_multiple_of(*size) && at + size <= end;
        let size = [8, 4, 2, 1].into_iter().find(fits).unwrap_or(1);
        pieces.push(Piece { first: at * 8, bits: size * 8 });
        at += size;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_cover_the_bytes_of_a_bit_field_and_no_other() {
        for first in 0..64 {
            for width in 1..=64 - first {
                let mut next = first / 8 * 8;
                for piece in pieces(first, width) {
                    assert_eq!(piece.first, next);
                    assert_eq!(piece.first % piece.bits, 0, "{first} {width}: aligned");
                    next += piece.bits;
                }
                assert_eq!(next, (first + width).next_multiple_of(8), "{first} {width}");
            }
        }
        assert_eq!(pieces(0, 32).len(), 1);
        assert_eq!(pieces(8, 24).len(), 2);
    }
}
