//! A thin layer over LLVM's C interface for code that rewrites modules: values, types and blocks that are copied freely,
//! and a builder that does not care whether an operand is a scalar or a vector. (inkwell's typed values are the right
//! thing for building known types, as the lowering does, and in the way here.)
//!
//! Nothing here outlives the inkwell `Context` of the module it came from: that is the callers' part of the contract.
//! No method is given a null pointer, and a wrong type is found by the verifier that runs before anything else does.

mod builder;
mod types;
mod values;

pub(crate) use builder::Builder;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
pub(crate) use inkwell::llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOp, LLVMIntPredicate as IntPredicate,
    LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind,
};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};
use std::ffi::{CStr, CString};

/// A type of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type(pub(crate) LLVMTypeRef);

/// A value of LLVM: a constant, an argument, an instruction, a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(pub(crate) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block(pub(crate) LLVMBasicBlockRef);

impl Block {
    /// A new block at the end of a function.
    pub(crate) fn append(function: Value, name: &str) -> Block {
        let name = CString::new(name).unwrap_or_default();
        unsafe { Block(LLVMAppendBasicBlockInContext(function.ty().context(), function.0, name.as_ptr())) }
    }

    /// The function that the block is in.
    pub(crate) fn function(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    pub(crate) fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut instruction = unsafe { LLVMGetFirstInstruction(self.0) };
        while !instruction.is_null() {
            instructions.push(Value(instruction));
            instruction = unsafe { LLVMGetNextInstruction(instruction) };
        }
        instructions
    }

    pub(crate) fn terminator(self) -> Option<Value> {
        let value = unsafe { LLVMGetBasicBlockTerminator(self.0) };
        (!value.is_null()).then_some(Value(value))
    }
}

/// A module, as far as rewriting needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ModuleRef(pub(crate) LLVMModuleRef);

impl ModuleRef {
    pub(crate) fn of(module: &inkwell::module::Module) -> ModuleRef {
        ModuleRef(module.as_mut_ptr())
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        unsafe { LLVMGetModuleContext(self.0) }
    }

    pub(crate) fn functions(self) -> Vec<Value> {
        let mut functions = Vec::new();
        let mut function = unsafe { LLVMGetFirstFunction(self.0) };
        while !function.is_null() {
            functions.push(Value(function));
            function = unsafe { LLVMGetNextFunction(function) };
        }
        functions
    }

    pub(crate) fn globals(self) -> Vec<Value> {
        let mut globals = Vec::new();
        let mut global = unsafe { LLVMGetFirstGlobal(self.0) };
        while !global.is_null() {
            globals.push(Value(global));
            global = unsafe { LLVMGetNextGlobal(global) };
        }
        globals
    }

    pub(crate) fn function(self, name: &str) -> Option<Value> {
        let name = CString::new(name).ok()?;
        let function = unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) };
        (!function.is_null()).then_some(Value(function))
    }

    pub(crate) fn add_function(self, name: &str, ty: Type) -> Value {
        let name = CString::new(name).unwrap_or_default();
        Value(unsafe { LLVMAddFunction(self.0, name.as_ptr(), ty.0) })
    }

    /// The declaration of one of LLVM's own functions (`llvm.fma`), for the types that it is overloaded on.
    pub(crate) fn intrinsic(self, name: &str, types: &[Type]) -> Option<Value> {
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            if id == 0 {
                return None;
            }
            let mut types: Vec<LLVMTypeRef> = types.iter().map(|ty| ty.0).collect();
            Some(Value(LLVMGetIntrinsicDeclaration(self.0, id, types.as_mut_ptr(), types.len())))
        }
    }
}
