//! Sizes and alignments of types.

use super::*;
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMOffsetOfElement, LLVMTargetDataRef,
};

/// The size and alignment rules of a module.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m> {
    /// A part of the module.
    raw: LLVMTargetDataRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Layout<'m> {
    pub(crate) fn of(module: ModuleRef<'m>) -> Layout<'m> {
        Layout { raw: llvm!(LLVMGetModuleDataLayout(module.raw())), module: PhantomData }
    }

    /// Bytes from one element of this type to the next.
    pub(crate) fn size(self, ty: Type<'m>) -> u64 {
        assert!(ty.is_sized(), "the size of {}", ty.text());
        llvm!(LLVMABISizeOfType(self.raw, ty.raw()))
    }

    /// The alignment in bytes that a value of this type needs.
    pub(crate) fn align(self, ty: Type<'m>) -> u32 {
        assert!(ty.is_sized(), "the alignment of {}", ty.text());
        llvm!(LLVMABIAlignmentOfType(self.raw, ty.raw()))
    }

    /// Bytes before member `index` of a structure.
    pub(crate) fn offset(self, structure: Type<'m>, index: usize) -> u64 {
        assert!(
            structure.is_sized() && index < structure.members().len(),
            "member {index} of {}",
            structure.text()
        );
        llvm!(LLVMOffsetOfElement(self.raw, structure.raw(), index as u32))
    }
}
