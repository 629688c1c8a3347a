//! Components of types: every value of AIR is a list of scalar components, and each component becomes one value per
//! lane. A `float4` has four; an 8×8 simdgroup matrix, which AIR writes as 64 elements, has the two that each lane
//! holds.

use crate::ir::{Layout, Type, TypeKind};

/// The elements of a simdgroup matrix in AIR.
pub(crate) const MATRIX: usize = 64;

/// The elements of it that one lane holds.
pub(crate) const MATRIX_PER_LANE: usize = 2;

/// A scalar as the generated code keeps it: a bfloat as its bits, a pointer to private memory as an offset.
pub(crate) fn scalar(ty: Type) -> Type {
    match ty.kind() {
        TypeKind::LLVMBFloatTypeKind => Type::int(ty.context(), 16),
        TypeKind::LLVMPointerTypeKind if ty.address_space() == 0 => Type::int(ty.context(), 32),
        TypeKind::LLVMPointerTypeKind => Type::pointer(ty.context()),
        _ => ty,
    }
}

/// The number of elements of a vector that are components.
pub(crate) fn vector_components(ty: Type) -> usize {
    if ty.length() == MATRIX { MATRIX_PER_LANE } else { ty.length() }
}

/// The components of a type, as the generated code keeps them.
pub(crate) fn components(ty: Type) -> Vec<Type> {
    match ty.kind() {
        TypeKind::LLVMVoidTypeKind => Vec::new(),
        TypeKind::LLVMVectorTypeKind => vec![scalar(ty.element()); vector_components(ty)],
        TypeKind::LLVMArrayTypeKind => {
            let element = components(ty.element());
            let count = element.len() * ty.array_length() as usize;
            element.into_iter().cycle().take(count).collect()
        }
        TypeKind::LLVMStructTypeKind => ty.members().into_iter().flat_map(components).collect(),
        _ => vec![scalar(ty)],
    }
}

/// Offsets in bytes of the components of a type in memory.
pub(crate) fn offsets(layout: Layout, ty: Type) -> Vec<u64> {
    match ty.kind() {
        TypeKind::LLVMVectorTypeKind => {
            let size = layout.size(ty.element());
            (0..vector_components(ty) as u64).map(|i| i * size).collect()
        }
        TypeKind::LLVMArrayTypeKind => {
            let (element, size) = (offsets(layout, ty.element()), layout.size(ty.element()));
            (0..ty.array_length()).flat_map(|i| element.iter().map(move |at| i * size + at)).collect()
        }
        TypeKind::LLVMStructTypeKind => {
            let member = |(index, part): (usize, Type)| {
                let start = layout.offset(ty, index);
                offsets(layout, part).into_iter().map(move |at| start + at).collect::<Vec<u64>>()
            };
            ty.members().into_iter().enumerate().flat_map(member).collect()
        }
        _ => vec![0],
    }
}

/// The bytes of a component in memory.
pub(crate) fn bytes(component: Type) -> u64 {
    match component.kind() {
        TypeKind::LLVMIntegerTypeKind => u64::from(component.int_bits().div_ceil(8)),
        TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => 2,
        TypeKind::LLVMFloatTypeKind => 4,
        _ => 8,
    }
}
