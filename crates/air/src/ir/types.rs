//! Types.

use super::{Type, Value};
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use std::ffi::CStr;

impl Type {
    pub(crate) fn int(context: LLVMContextRef, bits: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(context, bits) })
    }

    pub(crate) fn float(context: LLVMContextRef) -> Type {
        Type(unsafe { LLVMFloatTypeInContext(context) })
    }

    pub(crate) fn double(context: LLVMContextRef) -> Type {
        Type(unsafe { LLVMDoubleTypeInContext(context) })
    }

    pub(crate) fn void(context: LLVMContextRef) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(context) })
    }

    pub(crate) fn half(context: LLVMContextRef) -> Type {
        Type(unsafe { LLVMHalfTypeInContext(context) })
    }

    pub(crate) fn pointer(context: LLVMContextRef) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(context, 0) })
    }

    pub(crate) fn vector(self, length: usize) -> Type {
        Type(unsafe { LLVMVectorType(self.0, length as u32) })
    }

    pub(crate) fn array(self, length: u64) -> Type {
        Type(unsafe { LLVMArrayType2(self.0, length) })
    }

    pub(crate) fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    pub(crate) fn is_vector(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVectorTypeKind
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    pub(crate) fn is_int(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn is_half(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMHalfTypeKind
    }

    pub(crate) fn is_bfloat(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMBFloatTypeKind
    }

    pub(crate) fn is_float_like(self) -> bool {
        matches!(
            self.kind(),
            LLVMTypeKind::LLVMHalfTypeKind
                | LLVMTypeKind::LLVMBFloatTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind
        )
    }

    /// The bits of an integer type.
    pub(crate) fn int_bits(self) -> u32 {
        unsafe { LLVMGetIntTypeWidth(self.0) }
    }

    pub(crate) fn address_space(self) -> u32 {
        unsafe { LLVMGetPointerAddressSpace(self.0) }
    }

    /// The element type of a vector or array.
    pub(crate) fn element(self) -> Type {
        Type(unsafe { LLVMGetElementType(self.0) })
    }

    /// The element type of a vector, or the type itself.
    pub(crate) fn scalar(self) -> Type {
        if self.is_vector() { self.element() } else { self }
    }

    /// The length of a vector.
    pub(crate) fn length(self) -> usize {
        unsafe { LLVMGetVectorSize(self.0) as usize }
    }

    pub(crate) fn array_length(self) -> u64 {
        unsafe { LLVMGetArrayLength2(self.0) }
    }

    /// The types of a structure's members.
    pub(crate) fn members(self) -> Vec<Type> {
        let count = unsafe { LLVMCountStructElementTypes(self.0) };
        (0..count).map(|i| Type(unsafe { LLVMStructGetTypeAtIndex(self.0, i) })).collect()
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        unsafe { LLVMGetTypeContext(self.0) }
    }

    pub(crate) fn undef(self) -> Value {
        Value(unsafe { LLVMGetUndef(self.0) })
    }

    pub(crate) fn poison(self) -> Value {
        Value(unsafe { LLVMGetPoison(self.0) })
    }

    pub(crate) fn zero(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }

    pub(crate) fn all_ones(self) -> Value {
        Value(unsafe { LLVMConstAllOnes(self.0) })
    }

    /// An integer of this type, or a vector of it in every element.
    pub(crate) fn constant(self, value: i64) -> Value {
        if self.is_vector() {
            return Value::constant_vector(&vec![self.element().constant(value); self.length()]);
        }
        Value(unsafe { LLVMConstInt(self.0, value as u64, 1) })
    }

    /// A floating-point number of this type, or a vector of it in every element.
    pub(crate) fn real(self, value: f64) -> Value {
        if self.is_vector() {
            return Value::constant_vector(&vec![self.element().real(value); self.length()]);
        }
        Value(unsafe { LLVMConstReal(self.0, value) })
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        unsafe {
            let raw = LLVMPrintTypeToString(self.0);
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            LLVMDisposeMessage(raw);
            text
        }
    }

    pub(crate) fn function(self, parameters: &[Type]) -> Type {
        let mut parameters: Vec<LLVMTypeRef> = parameters.iter().map(|ty| ty.0).collect();
        Type(unsafe { LLVMFunctionType(self.0, parameters.as_mut_ptr(), parameters.len() as u32, 0) })
    }
}
