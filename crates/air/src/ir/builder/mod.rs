//! New instructions.
//!
//! LLVM's builder folds constants, and reads its operands' types to do so. So each method checks the types that its
//! instruction needs, and that the operands belong to the module (`operand`).

mod arithmetic;
mod control;
mod memory;
mod vectors;

use super::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMBuilder, LLVMInlineAsmDialect};
use std::cell::Cell;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// Adds instructions to a block.
pub(crate) struct Builder<'m> {
    raw: NonNull<LLVMBuilder>,
    pub(crate) module: ModuleRef<'m>,
    place: Cell<Option<InsertionPoint<'m>>>,
}

/// The place of the next instruction.
#[derive(Clone, Copy)]
enum InsertionPoint<'m> {
    AtEnd(Block<'m>),
    Before(Value<'m>),
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: `new` made it, and nothing else has it.
        unsafe { LLVMDisposeBuilder(self.raw.as_ptr()) }
    }
}

impl<'m> Builder<'m> {
    pub(crate) fn new(module: ModuleRef<'m>) -> Builder<'m> {
        let raw = llvm!(LLVMCreateBuilderInContext(module.context().raw()));
        Builder { raw: NonNull::new(raw).expect("a builder"), module, place: Cell::new(None) }
    }

    pub(crate) fn context(&self) -> ContextRef<'m> {
        self.module.context()
    }

    /// Goes to the end of a block.
    pub(crate) fn at_end(&self, block: Block<'m>) {
        llvm!(LLVMPositionBuilderAtEnd(self.raw.as_ptr(), self.target(block)));
        self.place.set(Some(InsertionPoint::AtEnd(block)));
    }

    /// Goes to the place before an instruction.
    pub(crate) fn before(&self, instruction: Value<'m>) {
        assert!(instruction.is_instruction(), "no instruction: {}", instruction.text());
        assert!(instruction.module() == Some(self.module), "an instruction of another module, or erased");
        llvm!(LLVMPositionBuilderBefore(self.raw.as_ptr(), instruction.raw()));
        self.place.set(Some(InsertionPoint::Before(instruction)));
    }

    /// Adds an instruction that is in no block.
    pub(super) fn put_back(&self, instruction: Value<'m>) {
        assert!(instruction.is_instruction() && instruction.module().is_none(), "it is in a block");
        llvm!(LLVMInsertIntoBuilder(self.raw(), instruction.raw()));
    }

    /// The block that the next instruction is added to.
    pub(crate) fn block(&self) -> Block<'m> {
        match self.place.get().expect("the builder is at a block") {
            InsertionPoint::AtEnd(block) => block,
            // It fails for an instruction that was erased: its place is gone.
            InsertionPoint::Before(instruction) => instruction.block(),
        }
    }

    /// LLVM's builder, which is at a place that exists.
    fn raw(&self) -> LLVMBuilderRef {
        self.block();
        self.raw.as_ptr()
    }

    /// A value that an instruction here may use.
    fn operand(&self, value: Value<'m>) -> LLVMValueRef {
        assert!(value.belongs_to(self.module), "a value of another module, or erased: {}", value.text());
        value.raw()
    }

    /// A type that an instruction here may have.
    fn ty(&self, ty: Type<'m>) -> LLVMTypeRef {
        assert!(ty.context() == self.context(), "a type of another context: {}", ty.text());
        assert!(ty.is_sized(), "a value of the type {}", ty.text());
        ty.raw()
    }

    /// A block that an instruction here may name.
    fn target(&self, block: Block<'m>) -> LLVMBasicBlockRef {
        assert!(block.function().module() == Some(self.module), "a block of another module");
        block.raw()
    }
}
