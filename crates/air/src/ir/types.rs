//! Types.

use super::*;
use inkwell::llvm_sys::core::*;

/// Wraps a type that LLVM returns for types or a context of `'m`: it belongs to the same context.
macro_rules! ty {
    ($call:expr) => {
        llvm!(Type::from_raw($call)).expect("LLVM returns a type")
    };
}
pub(super) use ty;

impl<'m> Type<'m> {
    pub(crate) fn int(context: ContextRef<'m>, bits: u32) -> Type<'m> {
        assert!((1..1 << 23).contains(&bits), "an integer type of {bits} bits");
        ty!(LLVMIntTypeInContext(context.raw(), bits))
    }

    pub(crate) fn float(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMFloatTypeInContext(context.raw()))
    }

    pub(crate) fn double(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMDoubleTypeInContext(context.raw()))
    }

    pub(crate) fn void(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMVoidTypeInContext(context.raw()))
    }

    pub(crate) fn half(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMHalfTypeInContext(context.raw()))
    }

    pub(crate) fn bfloat(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMBFloatTypeInContext(context.raw()))
    }

    pub(crate) fn pointer(context: ContextRef<'m>) -> Type<'m> {
        ty!(LLVMPointerTypeInContext(context.raw(), 0))
    }

    /// A pointer into an address space.
    pub(crate) fn pointer_to(context: ContextRef<'m>, address_space: u32) -> Type<'m> {
        ty!(LLVMPointerTypeInContext(context.raw(), address_space))
    }

    pub(crate) fn vector(self, length: usize) -> Type<'m> {
        assert!(self.is_element() && length > 0, "a vector of {length} x {}", self.text());
        let length = u32::try_from(length).expect("a vector has fewer than 2^32 elements");
        ty!(LLVMVectorType(self.raw(), length))
    }

    pub(crate) fn array(self, length: u64) -> Type<'m> {
        assert!(self.is_sized(), "an array of {}", self.text());
        ty!(LLVMArrayType2(self.raw(), length))
    }

    /// A struct with these members.
    pub(crate) fn structure(context: ContextRef<'m>, members: &[Type<'m>]) -> Type<'m> {
        assert!(members.iter().all(|ty| ty.is_sized() && ty.context() == context), "a member without a size");
        let mut raw: Vec<_> = members.iter().map(|ty| ty.raw()).collect();
        let count = u32::try_from(raw.len()).expect("a struct has fewer than 2^32 members");
        ty!(LLVMStructTypeInContext(context.raw(), raw.as_mut_ptr(), count, 0))
    }

    /// The type of a function that returns this type.
    pub(crate) fn function(self, parameters: &[Type<'m>]) -> Type<'m> {
        assert!(self.is_void() || self.is_sized(), "a function that returns {}", self.text());
        assert!(parameters.iter().all(|ty| ty.is_sized()), "a parameter without a size");
        assert!(parameters.iter().all(|ty| ty.context() == self.context()), "types of two contexts");
        let mut raw: Vec<LLVMTypeRef> = parameters.iter().map(|ty| ty.raw()).collect();
        ty!(LLVMFunctionType(self.raw(), raw.as_mut_ptr(), raw.len() as u32, 0))
    }

    pub(crate) fn kind(self) -> TypeKind {
        llvm!(LLVMGetTypeKind(self.raw()))
    }

    pub(crate) fn is_vector(self) -> bool {
        self.kind() == TypeKind::LLVMVectorTypeKind
    }

    pub(crate) fn is_array(self) -> bool {
        self.kind() == TypeKind::LLVMArrayTypeKind
    }

    pub(crate) fn is_struct(self) -> bool {
        self.kind() == TypeKind::LLVMStructTypeKind
    }

    pub(crate) fn is_function(self) -> bool {
        self.kind() == TypeKind::LLVMFunctionTypeKind
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == TypeKind::LLVMPointerTypeKind
    }

    pub(crate) fn is_int(self) -> bool {
        self.kind() == TypeKind::LLVMIntegerTypeKind
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == TypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn is_half(self) -> bool {
        self.kind() == TypeKind::LLVMHalfTypeKind
    }

    pub(crate) fn is_bfloat(self) -> bool {
        self.kind() == TypeKind::LLVMBFloatTypeKind
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind() == TypeKind::LLVMFloatTypeKind
    }

    /// True for the floating-point numbers of Metal, and `double`.
    pub(crate) fn is_float_like(self) -> bool {
        matches!(
            self.kind(),
            TypeKind::LLVMHalfTypeKind
                | TypeKind::LLVMBFloatTypeKind
                | TypeKind::LLVMFloatTypeKind
                | TypeKind::LLVMDoubleTypeKind
        )
    }

    /// True for every type of floating-point number, also those that Metal does not have.
    pub(crate) fn is_floating_point(self) -> bool {
        let others = [TypeKind::LLVMX86_FP80TypeKind, TypeKind::LLVMFP128TypeKind, TypeKind::LLVMPPC_FP128TypeKind];
        self.is_float_like() || others.contains(&self.kind())
    }

    /// True for a type that vectors can have.
    pub(in crate::ir) fn is_element(self) -> bool {
        self.is_int() || self.is_floating_point() || self.is_pointer()
    }

    /// True if a value of this type takes a known number of bytes in memory.
    pub(crate) fn is_sized(self) -> bool {
        llvm!(LLVMTypeIsSized(self.raw())) != 0
    }

    /// The bits of an integer type.
    pub(crate) fn int_bits(self) -> u32 {
        assert!(self.is_int(), "{} is no integer type", self.text());
        llvm!(LLVMGetIntTypeWidth(self.raw()))
    }

    /// The address space of a pointer type, or of a vector of pointers.
    pub(crate) fn address_space(self) -> u32 {
        assert!(self.scalar().is_pointer(), "{} is no pointer type", self.text());
        llvm!(LLVMGetPointerAddressSpace(self.raw()))
    }

    /// The element type of a vector or array.
    pub(crate) fn element(self) -> Type<'m> {
        assert!(self.is_vector() || self.is_array(), "{} has no elements", self.text());
        ty!(LLVMGetElementType(self.raw()))
    }

    /// The element type of a vector, or the type itself.
    pub(crate) fn scalar(self) -> Type<'m> {
        if self.is_vector() { self.element() } else { self }
    }

    /// The length of a vector.
    pub(crate) fn length(self) -> usize {
        assert!(self.is_vector(), "{} is no vector type", self.text());
        llvm!(LLVMGetVectorSize(self.raw())) as usize
    }

    pub(crate) fn array_length(self) -> u64 {
        assert!(self.is_array(), "{} is no array type", self.text());
        llvm!(LLVMGetArrayLength2(self.raw()))
    }

    /// The types of a structure's members.
    pub(crate) fn members(self) -> Vec<Type<'m>> {
        assert!(self.is_struct(), "{} is no structure type", self.text());
        let count = llvm!(LLVMCountStructElementTypes(self.raw()));
        (0..count).map(|index| ty!(LLVMStructGetTypeAtIndex(self.raw(), index))).collect()
    }

    /// The types of a function's parameters.
    pub(crate) fn parameter_types(self) -> Vec<Type<'m>> {
        assert!(self.is_function(), "{} is no function type", self.text());
        let mut types = vec![std::ptr::null_mut(); llvm!(LLVMCountParamTypes(self.raw())) as usize];
        // The list has room for all of them.
        llvm!(LLVMGetParamTypes(self.raw(), types.as_mut_ptr()));
        types.into_iter().map(|raw| ty!(raw)).collect()
    }

    /// The type of a function's result.
    pub(crate) fn result_type(self) -> Type<'m> {
        assert!(self.is_function(), "{} is no function type", self.text());
        ty!(LLVMGetReturnType(self.raw()))
    }

    pub(crate) fn context(self) -> ContextRef<'m> {
        // SAFETY: a type that is alive for `'m` belongs to a context that is.
        unsafe { ContextRef::from_raw(LLVMGetTypeContext(self.raw())) }
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        llvm!(message(LLVMPrintTypeToString(self.raw())))
    }
}
