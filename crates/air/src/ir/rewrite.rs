//! Instructions that are erased while handles exist.

use super::*;
use inkwell::llvm_sys::core::*;
use inkwell::module::Module;
use std::cell::RefCell;

/// A module whose instructions may be erased.
///
/// It borrows the module for itself, and all handles to the module are borrowed from it. So when it is dropped, no
/// handle is left, and the instructions that were erased are freed.
pub(crate) struct Rewrite<'r> {
    raw: LLVMModuleRef,
    /// Instructions that are in no block any more.
    erased: RefCell<Vec<LLVMValueRef>>,
    module: PhantomData<&'r mut ()>,
}

impl<'r> Rewrite<'r> {
    pub(crate) fn new(module: &'r mut Module<'_>) -> Rewrite<'r> {
        Rewrite { raw: module.as_mut_ptr(), erased: RefCell::default(), module: PhantomData }
    }

    pub(crate) fn module(&self) -> ModuleRef<'_> {
        // SAFETY: the module is borrowed for longer than `self`.
        unsafe { ModuleRef::from_raw(self.raw) }.expect("a module")
    }

    /// Takes an instruction, which nothing may use any more, out of its block. Its operands no longer count it as a
    /// user.
    pub(crate) fn erase<'m>(&'m self, instruction: Value<'m>) {
        assert!(instruction.is_instruction(), "no instruction: {}", instruction.text());
        assert!(instruction.module() == Some(self.module()), "an instruction of another module, or erased before");
        assert!(!instruction.has_use(), "still used: {}", instruction.text());
        assert!(!instruction.is_terminator(), "the end of a block: {}", instruction.text());
        self.take_out(instruction);
    }

    /// Takes the end of a block out of it. The caller gives the block another one.
    pub(crate) fn erase_terminator<'m>(&'m self, block: Block<'m>) {
        assert!(block.function().module() == Some(self.module()), "a block of another module");
        let terminator = block.terminator().expect("a block has an end");
        assert!(!terminator.has_use(), "still used: {}", terminator.text());
        self.take_out(terminator);
    }

    /// Moves an instruction to where a builder adds instructions. Its operands must be known there.
    pub(crate) fn move_to<'m>(&'m self, b: &Builder<'m>, instruction: Value<'m>) {
        assert!(instruction.module() == Some(self.module()), "an instruction of another module, or erased before");
        assert!(!instruction.is_terminator(), "the end of a block: {}", instruction.text());
        llvm!(LLVMInstructionRemoveFromParent(instruction.raw()));
        b.put_back(instruction);
    }

    fn take_out<'m>(&'m self, instruction: Value<'m>) {
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            let ty = operand.ty();
            // Others, such as metadata, have no list of uses that anybody reads.
            if ty.is_sized() {
                llvm!(LLVMSetOperand(instruction.raw(), index as u32, ty.poison().raw()));
            }
        }
        llvm!(LLVMInstructionRemoveFromParent(instruction.raw()));
        self.erased.borrow_mut().push(instruction.raw());
    }

    /// Ends a block before `instruction`, which goes to a new block together with those after it. No phi may name the
    /// old block.
    pub(crate) fn split_before<'m>(&'m self, instruction: Value<'m>) -> Block<'m> {
        let block = instruction.block();
        assert!(block.function().module() == Some(self.module()), "a block of another module");
        let rest: Vec<Value<'m>> =
            block.instructions().into_iter().skip_while(|other| *other != instruction).collect();
        let is_phi = |block: &Block<'m>| block.first_instruction().is_some_and(|first| first.is(Opcode::LLVMPHI));
        assert!(!instruction.is(Opcode::LLVMPHI), "a block is split at {}", instruction.text());
        assert!(!block.terminator().expect("a block has an end").successors().iter().any(is_phi), "a phi follows");
        let new = Block::append(block.function(), "");
        let builder = Builder::new(self.module());
        builder.at_end(new);
        for moved in rest {
            llvm!(LLVMInstructionRemoveFromParent(moved.raw()));
            builder.put_back(moved);
        }
        builder.at_end(block);
        builder.branch(new);
        new
    }
}

impl Drop for Rewrite<'_> {
    fn drop(&mut self) {
        for &instruction in self.erased.get_mut().iter() {
            // SAFETY: the instruction is in no block, so that it belongs to this list alone, and no handle to it is
            // left. One that is used again after all (which the builder refuses) is kept for ever.
            unsafe {
                if LLVMGetFirstUse(instruction).is_null() {
                    LLVMDeleteInstruction(instruction);
                }
            }
        }
    }
}
