//! Modules, contexts and blocks.

use super::values::value;
use super::*;
use inkwell::llvm_sys::LLVMContext;
use inkwell::llvm_sys::LLVMModule;
use inkwell::llvm_sys::core::*;
use inkwell::module::Module;
use std::ffi::{CStr, CString};

/// A module, as far as rewriting needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ModuleRef<'m> {
    raw: NonNull<LLVMModule>,
    module: PhantomData<&'m ()>,
}

/// The context of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ContextRef<'m> {
    raw: NonNull<LLVMContext>,
    module: PhantomData<&'m ()>,
}

impl<'m> ContextRef<'m> {
    /// # Safety
    ///
    /// The context is alive for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMContextRef) -> ContextRef<'m> {
        ContextRef { raw: NonNull::new(raw).expect("a context"), module: PhantomData }
    }

    pub(super) fn raw(self) -> LLVMContextRef {
        self.raw.as_ptr()
    }
}

impl<'m> ModuleRef<'m> {
    pub(crate) fn of(module: &'m Module<'_>) -> ModuleRef<'m> {
        ModuleRef { raw: NonNull::new(module.as_mut_ptr()).expect("a module"), module: PhantomData }
    }

    /// # Safety
    ///
    /// The pointer is null, or the module is alive for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMModuleRef) -> Option<ModuleRef<'m>> {
        Some(ModuleRef { raw: NonNull::new(raw)?, module: PhantomData })
    }

    pub(super) fn raw(self) -> LLVMModuleRef {
        self.raw.as_ptr()
    }

    pub(crate) fn context(self) -> ContextRef<'m> {
        // SAFETY: the context of a module outlives it.
        unsafe { ContextRef::from_raw(LLVMGetModuleContext(self.raw())) }
    }

    pub(crate) fn functions(self) -> Vec<Value<'m>> {
        let first = llvm!(Value::from_raw(LLVMGetFirstFunction(self.raw())));
        let next = |function: &Value<'m>| llvm!(Value::from_raw(LLVMGetNextFunction(function.raw())));
        std::iter::successors(first, next).collect()
    }

    pub(crate) fn globals(self) -> Vec<Value<'m>> {
        let first = llvm!(Value::from_raw(LLVMGetFirstGlobal(self.raw())));
        let next = |global: &Value<'m>| llvm!(Value::from_raw(LLVMGetNextGlobal(global.raw())));
        std::iter::successors(first, next).collect()
    }

    pub(crate) fn function(self, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).ok()?;
        llvm!(Value::from_raw(LLVMGetNamedFunction(self.raw(), name.as_ptr())))
    }

    /// The variable of this name.
    pub(crate) fn global(self, name: &CStr) -> Option<Value<'m>> {
        llvm!(Value::from_raw(LLVMGetNamedGlobal(self.raw(), name.as_ptr())))
    }

    pub(crate) fn add_function(self, name: &str, ty: Type<'m>) -> Value<'m> {
        assert!(ty.is_function() && ty.context() == self.context(), "a function of the type {}", ty.text());
        let name = CString::new(name).unwrap_or_default();
        value!(LLVMAddFunction(self.raw(), name.as_ptr(), ty.raw()))
    }

    /// Adds a variable with this value.
    pub(crate) fn add_global(self, name: &CStr, initializer: Value<'m>) -> Value<'m> {
        let global: Value<'m> = value!(LLVMAddGlobal(self.raw(), initializer.ty().raw(), name.as_ptr()));
        global.set_initializer(initializer);
        global
    }

    /// Declares a variable of an address space that is defined elsewhere.
    pub(crate) fn add_external(self, name: &CStr, ty: Type<'m>, address_space: u32) -> Value<'m> {
        assert!(ty.context() == self.context() && ty.is_sized(), "a variable of the type {}", ty.text());
        value!(LLVMAddGlobalInAddressSpace(self.raw(), ty.raw(), name.as_ptr(), address_space))
    }

    /// The declaration of one of LLVM's own functions (`llvm.fma`), for the types that it is overloaded on.
    pub(crate) fn intrinsic(self, name: &str, types: &[Type<'m>]) -> Option<Value<'m>> {
        /// More types than any intrinsic is overloaded on.
        const MOST_TYPES: usize = 16;
        let id = llvm!(LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()));
        if id == 0 {
            return None;
        }
        assert!(types.len() < MOST_TYPES && types.iter().all(|ty| ty.context() == self.context()), "{name}");
        // LLVM reads as many types as the intrinsic has, whatever their count: the list is padded, so that it stays
        // within. The call of such a function fails, for its arguments do not fit.
        let mut raw: Vec<LLVMTypeRef> = types.iter().map(|ty| ty.raw()).collect();
        raw.resize(MOST_TYPES, types.last().copied().unwrap_or_else(|| Type::int(self.context(), 32)).raw());
        Some(value!(LLVMGetIntrinsicDeclaration(self.raw(), id, raw.as_mut_ptr(), types.len())))
    }
}

impl<'m> Block<'m> {
    /// A new block at the end of a function.
    pub(crate) fn append(function: Value<'m>, name: &str) -> Block<'m> {
        assert!(function.is_function(), "a block of {}", function.text());
        let name = CString::new(name).unwrap_or_default();
        let context = function.ty().context();
        let block = llvm!(LLVMAppendBasicBlockInContext(context.raw(), function.raw(), name.as_ptr()));
        llvm!(Block::from_raw(block)).expect("LLVM returns a block")
    }

    /// The function that the block is in.
    pub(crate) fn function(self) -> Value<'m> {
        value!(LLVMGetBasicBlockParent(self.raw()))
    }

    /// Moves the block to the end of another function of the module.
    pub(crate) fn move_to(self, function: Value<'m>) {
        assert!(
            function.is_function() && function.module() == self.function().module(),
            "a function of the module"
        );
        llvm!(LLVMRemoveBasicBlockFromParent(self.raw()));
        llvm!(LLVMAppendExistingBasicBlock(function.raw(), self.raw()));
    }

    pub(crate) fn instructions(self) -> Vec<Value<'m>> {
        let first = llvm!(Value::from_raw(LLVMGetFirstInstruction(self.raw())));
        let next = |instruction: &Value<'m>| llvm!(Value::from_raw(LLVMGetNextInstruction(instruction.raw())));
        std::iter::successors(first, next).collect()
    }

    pub(crate) fn first_instruction(self) -> Option<Value<'m>> {
        llvm!(Value::from_raw(LLVMGetFirstInstruction(self.raw())))
    }

    pub(crate) fn terminator(self) -> Option<Value<'m>> {
        llvm!(Value::from_raw(LLVMGetBasicBlockTerminator(self.raw())))
    }
}
