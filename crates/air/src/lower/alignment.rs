//! Alignment of places. Most have that of their type; members of packed structs may have less, and so has all that lies
//! in them. A pointer that the program itself keeps has the alignment of its type again, as in clang.

use super::{DATA_LAYOUT, Lowering, Result};
use inkwell::targets::TargetData;
use inkwell::types::BasicTypeEnum;
use inkwell::values::PointerValue;
use msl::types::Ty;
use std::cell::RefCell;
use std::collections::HashMap;

/// Bytes that pointers are known to be aligned to, for those that are aligned less than their types ask for.
#[derive(Default)]
pub(super) struct WeakPointers<'ctx>(RefCell<HashMap<PointerValue<'ctx>, u64>>);

impl<'ctx> WeakPointers<'ctx> {
    /// `align`, or less if `pointer` is known to have less.
    pub(super) fn limit(&self, pointer: PointerValue<'ctx>, align: u32) -> u32 {
        self.0.borrow().get(&pointer).map_or(align, |&known| known.min(u64::from(align)) as u32)
    }

    /// `place` is a multiple of `step` bytes behind `base`.
    pub(super) fn derive(&self, base: PointerValue<'ctx>, place: PointerValue<'ctx>, step: u64) {
        let known = self.0.borrow().get(&base).copied();
        if let Some(known) = known {
            self.note(place, known.min(lowest_bit(step)));
        }
    }

    fn note(&self, place: PointerValue<'ctx>, align: u64) {
        let mut known = self.0.borrow_mut();
        let entry = known.entry(place).or_insert(align);
        *entry = align.min(*entry);
    }
}

impl<'ctx> Lowering<'ctx, '_> {
    /// Alignment of an access of type `ty` at `pointer`.
    pub(crate) fn align_at(&self, pointer: PointerValue<'ctx>, ty: Ty) -> Result<u32> {
        Ok(self.weak.limit(pointer, self.layout(ty)?.align as u32))
    }

    /// Remembers the alignment of a field at `place`, `offset` bytes into the object at `base`, if its type asks for
    /// more.
    pub(crate) fn note_field_alignment(
        &self,
        base: PointerValue<'ctx>,
        base_ty: Ty,
        place: PointerValue<'ctx>,
        offset: u64,
        ty: Ty,
    ) {
        let types = &self.program.types;
        let (Some(outer), Some(inner)) = (types.layout(base_ty), types.layout(ty)) else { return };
        let known = u64::from(self.weak.limit(base, outer.align as u32)).min(lowest_bit(offset));
        if known < inner.align {
            self.weak.note(place, known);
        }
    }

    /// `place` is an element of the array of `element`s at `base`.
    pub(crate) fn note_element_alignment(
        &self,
        base: PointerValue<'ctx>,
        place: PointerValue<'ctx>,
        element: BasicTypeEnum<'ctx>,
    ) {
        if self.weak.0.borrow().contains_key(&base) {
            let stride = TargetData::create(DATA_LAYOUT).get_abi_size(&element);
            self.weak.derive(base, place, stride);
        }
    }
}

/// The largest power of two that divides `offset`.
fn lowest_bit(offset: u64) -> u64 {
    if offset == 0 { u64::MAX } else { 1 << offset.trailing_zeros() }
}
