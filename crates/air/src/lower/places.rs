//! Places: addresses of values, and reads and writes there.

use super::{Error, Lowering, Result};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, IntValue, PointerValue};
use msl::program::{Expr, ExprKind};
use msl::types::{QualTy, Ty, TyKind};

/// A place in memory.
#[derive(Clone)]
pub(crate) enum Place<'ctx> {
    /// At an address.
    Memory(PointerValue<'ctx>),
    /// Several components of the vector at an address.
    Components { vector: PointerValue<'ctx>, vector_ty: Ty, components: Vec<u8> },
    /// Some bits of the integer at an address.
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
                self.initialize(place, value, false)?;
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
                let [(first, yes_end), (second, no_end)] =
                    self.either(condition, then, otherwise, Self::address)?;
                let phi = self.builder.build_phi(first.get_type(), "")?;
                phi.add_incoming(&[(&first, yes_end), (&second, no_end)]);
                Place::Memory(phi.as_basic_value().into_pointer_value())
            }
            // A value in the role of a place: it gets memory.
            _ => {
                let place = self.alloca(expr.ty.ty)?;
                self.initialize(place, expr, false)?;
                Place::Memory(place)
            }
        })
    }

    fn field(&mut self, base: &'p Expr, field: u32) -> Result<Place<'ctx>> {
        let address = self.address(base)?;
        let types = &self.program.types;
        let id = types.struct_id(base.ty.ty).ok_or_else(|| Error::Internal("a field of no struct".into()))?;
        let field = &types.struct_(id).fields[field as usize];
        let (offset, bits) = (field.offset, field.bits);
        let place = self.offset(address, offset)?;
        Ok(match bits {
            Some((first, width)) => Place::Bits { unit: place, first, width },
            None => Place::Memory(place),
        })
    }

    /// The address `offset` bytes further.
    pub(crate) fn offset(&self, address: PointerValue<'ctx>, offset: u64) -> Result<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(address);
        }
        let offset = self.context.i64_type().const_int(offset, false);
        // SAFETY: the offset is inside the object: it is that of a field, column or element by its layout.
        Ok(unsafe { self.builder.build_in_bounds_gep(self.context.i8_type(), address, &[offset], "")? })
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
        self.step(address, element, index)
    }

    /// The address of element `index` of an array of `element`s.
    pub(crate) fn step(
        &self,
        address: PointerValue<'ctx>,
        element: BasicTypeEnum<'ctx>,
        index: IntValue<'ctx>,
    ) -> Result<PointerValue<'ctx>> {
        // SAFETY: as in the source, an index past the end of the object is the program's fault.
        Ok(unsafe { self.builder.build_in_bounds_gep(element, address, &[index], "")? })
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
            return Ok(Place::Memory(self.step(vector, memory, index)?));
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
            Place::Bits { unit, first, width } => {
                let whole = self.load(*unit, ty)?.into_int_value();
                let bits = whole.get_type().get_bit_width();
                let int = whole.get_type();
                let up = int.const_int(u64::from(bits - first - width), false);
                let down = int.const_int(u64::from(bits - width), false);
                let high = self.builder.build_left_shift(whole, up, "")?;
                let signed = self.is_signed(ty.ty);
                Ok(self.builder.build_right_shift(high, down, signed, "")?.into())
            }
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
            Place::Bits { unit, first, width } => {
                let old = self.load(*unit, ty)?.into_int_value();
                let int = old.get_type();
                let mask = if *width >= 64 { u64::MAX } else { (1u64 << width) - 1 };
                let first_value = int.const_int(u64::from(*first), false);
                let new = self.builder.build_and(value.into_int_value(), int.const_int(mask, false), "")?;
                let new = self.builder.build_left_shift(new, first_value, "")?;
                let hole = int.const_int(!(mask << first), false);
                let kept = self.builder.build_and(old, hole, "")?;
                let merged = self.builder.build_or(kept, new, "")?;
                self.store(*unit, ty, merged.into())
            }
        }
    }

    /// Reads a register type from memory.
    pub(crate) fn load(&self, pointer: PointerValue<'ctx>, qualified: QualTy) -> Result<BasicValueEnum<'ctx>> {
        let ty = qualified.ty;
        let memory = self.memory_type(ty)?;
        let loaded = self.builder.build_load(memory, pointer, "")?;
        if let Some(instruction) = loaded.as_instruction_value() {
            let _ = instruction.set_alignment(self.layout(ty)?.align as u32);
            let _ = instruction.set_volatile(qualified.is_volatile);
        }
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
        let stored = self.builder.build_store(pointer, value)?;
        let _ = stored.set_alignment(self.layout(ty)?.align as u32);
        let _ = stored.set_volatile(qualified.is_volatile);
        Ok(())
    }

    /// Copies a value that is no register type. `is_volatile`: one of the two places is volatile.
    pub(crate) fn copy(
        &self,
        to: PointerValue<'ctx>,
        from: PointerValue<'ctx>,
        ty: Ty,
        is_volatile: bool,
    ) -> Result<()> {
        let layout = self.layout(ty)?;
        let size = self.context.i64_type().const_int(layout.size, false);
        let align = layout.align as u32;
        let copied = self
            .builder
            .build_memcpy(to, align, from, align, size)
            .map_err(|error| Error::Internal(error.to_string()))?;
        if (is_volatile || self.has_volatile_field(ty))
            && let Some(call) = copied.as_instruction_value()
        {
            const IS_VOLATILE: u32 = 3;
            call.set_operand(IS_VOLATILE, self.context.bool_type().const_int(1, false));
        }
        Ok(())
    }

    /// True if a field of a struct, or of a struct in it, is volatile.
    fn has_volatile_field(&self, ty: Ty) -> bool {
        let types = &self.program.types;
        match *types.kind(ty) {
            TyKind::Struct(id) => {
                let mut fields = types.struct_(id).fields.iter();
                fields.any(|field| field.ty.is_volatile || self.has_volatile_field(field.ty.ty))
            }
            TyKind::Array { element, .. } => self.has_volatile_field(element),
            _ => false,
        }
    }

    /// Makes a place hold a value for the first time.
    pub(crate) fn initialize(
        &mut self,
        place: PointerValue<'ctx>,
        value: &'p Expr,
        is_volatile: bool,
    ) -> Result<()> {
        let ty = value.ty.ty;
        if self.is_register(ty) {
            let value = self.value(value)?;
            return self.store(place, QualTy { is_volatile, ..QualTy::plain(ty) }, value);
        }
        // A constructor works on its object, whose `this` is not volatile.
        if !is_volatile || matches!(value.kind, ExprKind::Construct { .. }) {
            return self.aggregate_into(value, place);
        }
        let temporary = self.alloca(ty)?;
        self.aggregate_into(value, temporary)?;
        self.copy(place, temporary, ty, true)
    }

    fn assign(&mut self, place: &'p Expr, value: &'p Expr) -> Result<Place<'ctx>> {
        let QualTy { ty, is_volatile, .. } = place.ty;
        if self.is_register(ty) {
            let (qualified, value) = (place.ty, self.value(value)?);
            let place = self.place(place)?;
            self.store_place(&place, qualified, value)?;
            return Ok(place);
        }
        // The value may depend on the contents of the place: evaluate it first.
        let temporary = self.alloca(ty)?;
        self.aggregate_into(value, temporary)?;
        let to = self.address(place)?;
        self.copy(to, temporary, ty, is_volatile)?;
        Ok(Place::Memory(to))
    }
}
