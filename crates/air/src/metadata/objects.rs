//! Arrays, structs and matrices in constant memory that the static initializer sets.
//!
//! LLVM evaluates a store only if the variable has an element of that type and place. So the variable has the type of
//! the object, member by member, and is set by one store for each. Bit-fields and the members of unions share bytes, and
//! are set byte by byte.

use crate::lower::{Error, Lowering, Result};
use inkwell::types::{BasicType, BasicTypeEnum};
use inkwell::values::PointerValue;
use msl::types::{Ty, TyKind};

/// The type of a variable with such an object.
pub(super) fn object_type<'ctx>(lowering: &Lowering<'ctx, '_>, ty: Ty) -> Result<BasicTypeEnum<'ctx>> {
    let count = |count: u64| u32::try_from(count).map_err(|_| Error::Internal("a large constant".into()));
    Ok(match *lowering.program.types.kind(ty) {
        TyKind::Array { element, len: Some(len) } => {
            object_type(lowering, element)?.array_type(count(len)?).as_basic_type_enum()
        }
        TyKind::Matrix { columns, .. } => {
            lowering.column_type(ty)?.array_type(u32::from(columns)).as_basic_type_enum()
        }
        TyKind::Struct(_) => {
            let bytes = |length: u64| -> Result<BasicTypeEnum> {
                Ok(lowering.context.i8_type().array_type(count(length)?).into())
            };
            let (mut types, mut at) = (Vec::new(), 0);
            for (offset, part) in parts(lowering, ty)? {
                if offset > at {
                    types.push(bytes(offset - at)?);
                }
                let (ty, size) = match part {
                    Part::Member(member) => (object_type(lowering, member)?, lowering.layout(member)?.size),
                    Part::Bytes(size) => (bytes(size)?, size),
                };
                types.push(ty);
                at = offset + size;
            }
            let size = lowering.layout(ty)?.size;
            if size > at {
                types.push(bytes(size - at)?);
            }
            lowering.context.struct_type(&types, true).into()
        }
        _ => lowering.element_type(ty)?,
    })
}

/// Code that copies an object into its variable.
pub(super) fn copy<'ctx>(
    lowering: &Lowering<'ctx, '_>,
    ty: Ty,
    to: PointerValue<'ctx>,
    from: PointerValue<'ctx>,
) -> Result<()> {
    let each = |count: u64, stride: u64, element: BasicTypeEnum<'ctx>| {
        (0..count).try_for_each(|index| copy_value(lowering, element, index * stride, to, from))
    };
    match *lowering.program.types.kind(ty) {
        TyKind::Array { element, len: Some(len) } => {
            let stride = lowering.layout(element)?.size;
            (0..len).try_for_each(|index| {
                let [to, from] = [to, from].map(|object| lowering.offset(object, index * stride));
                copy(lowering, element, to?, from?)
            })
        }
        TyKind::Matrix { columns, .. } => {
            let stride = lowering.layout(ty)?.size / u64::from(columns);
            each(columns.into(), stride, lowering.column_type(ty)?)
        }
        TyKind::PackedVector { element, len } => {
            each(len.into(), lowering.layout(element)?.size, lowering.memory_type(element)?)
        }
        TyKind::Struct(_) => parts(lowering, ty)?.into_iter().try_for_each(|(offset, part)| {
            let [to, from] = [to, from].map(|object| lowering.offset(object, offset));
            let (to, from, byte) = (to?, from?, lowering.context.i8_type().into());
            match part {
                Part::Member(member) => copy(lowering, member, to, from),
                Part::Bytes(size) => (0..size).try_for_each(|offset| copy_value(lowering, byte, offset, to, from)),
            }
        }),
        _ => each(1, 0, lowering.memory_type(ty)?),
    }
}

fn copy_value<'ctx>(
    lowering: &Lowering<'ctx, '_>,
    ty: BasicTypeEnum<'ctx>,
    offset: u64,
    to: PointerValue<'ctx>,
    from: PointerValue<'ctx>,
) -> Result<()> {
    let value = lowering.builder.build_load(ty, lowering.offset(from, offset)?, "")?;
    lowering.builder.build_store(lowering.offset(to, offset)?, value)?;
    Ok(())
}

/// A part of a struct.
#[derive(Clone, Copy)]
enum Part {
    Member(Ty),
    /// Bytes of bit-fields, or of a union.
    Bytes(u64),
}

/// The parts of a struct with their offsets, in order.
fn parts(lowering: &Lowering, ty: Ty) -> Result<Vec<(u64, Part)>> {
    let types = &lowering.program.types;
    let id = types.struct_id(ty).ok_or_else(|| Error::Internal("the members of no struct".into()))?;
    let (mut parts, mut at) = (Vec::new(), 0);
    if types.struct_(id).is_union {
        return Ok(vec![(0, Part::Bytes(lowering.layout(ty)?.size))]);
    }
    for field in &types.struct_(id).fields {
        if let Some((first, width)) = field.bits {
            // Several may share a byte.
            let start = at.max(field.offset + u64::from(first / 8));
            let end = field.offset + u64::from((first + width).div_ceil(8));
            if end > start {
                parts.push((start, Part::Bytes(end - start)));
                at = end;
            }
            continue;
        }
        // An empty base or member has no bytes of its own.
        let is_empty = types.struct_id(field.ty.ty).is_some_and(|id| types.struct_(id).fields.is_empty());
        if !is_empty && field.offset >= at {
            parts.push((field.offset, Part::Member(field.ty.ty)));
            at = field.offset + lowering.layout(field.ty.ty)?.size;
        }
    }
    Ok(parts)
}
