//! LLVM's types for values in registers and in memory.

use super::{Error, Lowering, Result};
use inkwell::AddressSpace as LlvmSpace;
use inkwell::types::{BasicType, BasicTypeEnum, FloatType, IntType};
use msl::types::{AddressSpace, FloatKind, IntKind, Layout, QualTy, Ty, TyKind};

/// AIR's number for an address space.
pub(crate) fn space_number(space: AddressSpace) -> u16 {
    match space {
        AddressSpace::Thread => 0,
        AddressSpace::Device => 1,
        AddressSpace::Constant => 2,
        AddressSpace::Threadgroup | AddressSpace::ThreadgroupImageblock => 3,
        AddressSpace::RayData => 5,
        AddressSpace::ObjectData => 6,
    }
}

impl<'ctx> Lowering<'ctx, '_> {
    /// True if values of this type are LLVM values; others live in memory.
    pub(crate) fn is_register(&self, ty: Ty) -> bool {
        !matches!(
            self.program.types.kind(ty),
            TyKind::Struct(_) | TyKind::Array { .. } | TyKind::Matrix { .. } | TyKind::Void
        )
    }

    pub(crate) fn int_type(&self, kind: IntKind) -> IntType<'ctx> {
        self.context
            .custom_width_int_type(std::num::NonZeroU32::new(kind.bits()).expect("a width"))
            .expect("a width")
    }

    pub(crate) fn float_type(&self, kind: FloatKind) -> FloatType<'ctx> {
        match kind {
            FloatKind::Half => self.context.f16_type(),
            FloatKind::BFloat => self.context.bf16_type(),
            FloatKind::Float => self.context.f32_type(),
        }
    }

    /// The LLVM type of a value of this type.
    pub(crate) fn register_type(&self, ty: Ty) -> Result<BasicTypeEnum<'ctx>> {
        Ok(match *self.program.types.kind(ty) {
            TyKind::Bool => self.context.bool_type().into(),
            TyKind::Int(kind) => self.int_type(kind).into(),
            TyKind::Float(kind) => self.float_type(kind).into(),
            TyKind::Enum(id) => self.register_type(self.program.types.enum_(id).underlying)?,
            TyKind::MemberPointer { member, .. } if self.program.types.is_function(member.ty) => {
                self.pointer_type(QualTy::plain(member.ty)).into()
            }
            TyKind::MemberPointer { .. } => self.int_type(IntKind::Long).into(),
            TyKind::Vector { element, len } | TyKind::PackedVector { element, len } => {
                self.vector_of(self.register_type(element)?, u32::from(len))
            }
            TyKind::SimdgroupMatrix { element } => self.vector_of(self.register_type(element)?, 64),
            TyKind::Atomic(element) => self.register_type(element)?,
            TyKind::Pointer(to) | TyKind::Reference { to, .. } => self.pointer_type(to).into(),
            TyKind::NullPtr => self.context.ptr_type(LlvmSpace::from(0)).into(),
            _ => return Err(self.no_value(ty)),
        })
    }

    /// The LLVM type of this type in memory: `bool` takes a byte.
    pub(crate) fn memory_type(&self, ty: Ty) -> Result<BasicTypeEnum<'ctx>> {
        let bool_byte = self.context.i8_type();
        Ok(match *self.program.types.kind(ty) {
            TyKind::Bool => bool_byte.into(),
            TyKind::Vector { element: Ty::BOOL, len } => self.vector_of(bool_byte.into(), u32::from(len)),
            _ if self.is_register(ty) => self.register_type(ty)?,
            // Apple's compiler keeps the elements of arrays. Ours needs the bytes alone.
            TyKind::Array { element, len: Some(len) } if self.is_for_library && self.is_numbers(element) => {
                let len = u32::try_from(len).map_err(|_| Error::Internal("a large array".into()))?;
                self.element_type(element)?.array_type(len).into()
            }
            _ => {
                let layout = self.layout(ty)?;
                self.context.i8_type().array_type(layout.size as u32).into()
            }
        })
    }

    /// True for registers and arrays of them.
    fn is_numbers(&self, ty: Ty) -> bool {
        match *self.program.types.kind(ty) {
            TyKind::Array { element, .. } => self.is_numbers(element),
            _ => self.is_register(ty),
        }
    }

    /// The LLVM type of an element in an array of this type, with the space that it takes. LLVM would round a vector of
    /// three up to four, which is right unless it is packed.
    pub(crate) fn element_type(&self, ty: Ty) -> Result<BasicTypeEnum<'ctx>> {
        Ok(match *self.program.types.kind(ty) {
            TyKind::PackedVector { element, len } => {
                self.memory_type(element)?.array_type(u32::from(len)).as_basic_type_enum()
            }
            _ => self.memory_type(ty)?,
        })
    }

    pub(crate) fn pointer_type(&self, to: QualTy) -> inkwell::types::PointerType<'ctx> {
        let space = space_number(to.space.unwrap_or(AddressSpace::Thread));
        self.context.ptr_type(LlvmSpace::from(space))
    }

    pub(crate) fn layout(&self, ty: Ty) -> Result<Layout> {
        let types = &self.program.types;
        types.layout(ty).ok_or_else(|| self.no_value(ty))
    }

    /// The refusal of a type that has no values in AIR yet.
    fn no_value(&self, ty: Ty) -> Error {
        let what = format!("a value of type '{}'", self.program.types.name(ty));
        Error::Unsupported { what, span: self.here }
    }

    pub(crate) fn vector_of(&self, element: BasicTypeEnum<'ctx>, len: u32) -> BasicTypeEnum<'ctx> {
        match element {
            BasicTypeEnum::IntType(ty) => ty.vec_type(len).into(),
            BasicTypeEnum::FloatType(ty) => ty.vec_type(len).into(),
            BasicTypeEnum::PointerType(ty) => ty.vec_type(len).into(),
            other => other.as_basic_type_enum(),
        }
    }
}
