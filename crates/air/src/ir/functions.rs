//! Functions and global variables.

use super::types::ty;
use super::values::value;
use super::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};
use std::ffi::CStr;

impl<'m> Value<'m> {
    pub(crate) fn is_function(self) -> bool {
        !llvm!(LLVMIsAFunction(self.raw())).is_null()
    }

    pub(crate) fn is_global_variable(self) -> bool {
        !llvm!(LLVMIsAGlobalVariable(self.raw())).is_null()
    }

    /// The type of a function (not of a pointer to it).
    pub(crate) fn function_type(self) -> Type<'m> {
        assert!(self.is_function(), "no function: {}", self.text());
        ty!(LLVMGlobalGetValueType(self.raw()))
    }

    /// The parameters of a function.
    pub(crate) fn parameters(self) -> Vec<Value<'m>> {
        assert!(self.is_function(), "the parameters of {}", self.text());
        (0..llvm!(LLVMCountParams(self.raw()))).map(|index| value!(LLVMGetParam(self.raw(), index))).collect()
    }

    /// True if a function or variable is defined elsewhere.
    pub(crate) fn is_declaration(self) -> bool {
        assert!(self.is_global(), "the definition of {}", self.text());
        llvm!(LLVMIsDeclaration(self.raw())) != 0
    }

    /// The blocks of a function.
    pub(crate) fn blocks(self) -> Vec<Block<'m>> {
        assert!(self.is_function(), "the blocks of {}", self.text());
        let first = llvm!(Block::from_raw(LLVMGetFirstBasicBlock(self.raw())));
        let next = |block: &Block<'m>| llvm!(Block::from_raw(LLVMGetNextBasicBlock(block.raw())));
        std::iter::successors(first, next).collect()
    }

    /// The name of one of LLVM's own functions without the types that it is overloaded on.
    pub(crate) fn intrinsic_name(self) -> Option<String> {
        assert!(self.is_function(), "no function: {}", self.text());
        let id = llvm!(LLVMGetIntrinsicID(self.raw()));
        let mut length = 0;
        // The name has `length` bytes.
        (id != 0).then(|| llvm!(text(LLVMIntrinsicGetName(id, &mut length), length)))
    }

    /// Makes a function one that an NVIDIA GPU is told to run.
    pub(crate) fn make_ptx_kernel(self) {
        /// LLVM's number of the calling convention `ptx_kernel`.
        const PTX_KERNEL: u32 = 71;
        assert!(self.is_function(), "no function: {}", self.text());
        llvm!(LLVMSetFunctionCallConv(self.raw(), PTX_KERNEL))
    }

    /// Makes a function or variable invisible outside its module.
    pub(crate) fn make_internal(self) {
        self.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    }

    /// Makes a function one that other modules may define as well, all alike: an instance of a template.
    pub(crate) fn make_weak(self) {
        self.set_linkage(LLVMLinkage::LLVMWeakODRLinkage);
    }

    /// Says that no code compares the address of a function or variable: nowhere, or not in this module.
    pub(crate) fn make_unnamed(self, is_only_here: bool) {
        assert!(self.is_global(), "the address of {}", self.text());
        let kind = match is_only_here {
            true => LLVMUnnamedAddr::LLVMLocalUnnamedAddr,
            false => LLVMUnnamedAddr::LLVMGlobalUnnamedAddr,
        };
        llvm!(LLVMSetUnnamedAddress(self.raw(), kind))
    }

    /// Makes a variable a constant that only its module sees, without a name in the object.
    pub(crate) fn make_private_constant(self) {
        self.set_constant();
        self.set_linkage(LLVMLinkage::LLVMPrivateLinkage);
    }

    /// Makes a variable one of LLVM's lists (`llvm.compiler.used`).
    pub(crate) fn make_list(self) {
        self.set_linkage(LLVMLinkage::LLVMAppendingLinkage);
        self.set_section(c"llvm.metadata");
    }

    fn set_linkage(self, linkage: LLVMLinkage) {
        assert!(self.is_function() || self.is_global_variable(), "the linkage of {}", self.text());
        llvm!(LLVMSetLinkage(self.raw(), linkage))
    }

    /// True if no other module sees a function or variable.
    pub(crate) fn is_internal(self) -> bool {
        assert!(self.is_global(), "the linkage of {}", self.text());
        let linkage = llvm!(LLVMGetLinkage(self.raw()));
        matches!(linkage, LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage)
    }

    /// The type of a global variable's value.
    pub(crate) fn global_type(self) -> Type<'m> {
        assert!(self.is_global_variable(), "no variable: {}", self.text());
        ty!(LLVMGlobalGetValueType(self.raw()))
    }

    /// The value that a global variable begins with.
    pub(crate) fn initializer(self) -> Option<Value<'m>> {
        assert!(self.is_global_variable(), "no variable: {}", self.text());
        llvm!(Value::from_raw(LLVMGetInitializer(self.raw())))
    }

    pub(crate) fn set_initializer(self, value: Value<'m>) {
        assert!(self.global_type() == value.ty() && value.is_constant(), "the initializer of {}", self.text());
        assert!(self.module().is_some_and(|module| value.belongs_to(module)), "a value of another module");
        llvm!(LLVMSetInitializer(self.raw(), value.raw()))
    }

    /// Says that nothing changes a variable. One that was to be set from outside no longer is.
    pub(crate) fn set_constant(self) {
        assert!(self.is_global_variable(), "no variable: {}", self.text());
        llvm!(LLVMSetExternallyInitialized(self.raw(), 0));
        llvm!(LLVMSetGlobalConstant(self.raw(), 1))
    }

    pub(crate) fn set_section(self, section: &CStr) {
        assert!(self.is_global_variable(), "no variable: {}", self.text());
        llvm!(LLVMSetSection(self.raw(), section.as_ptr()))
    }
}
