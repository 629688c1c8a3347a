//! Instructions.

use super::types::ty;
use super::values::value;
use super::*;
use inkwell::llvm_sys::core::*;

impl<'m> Value<'m> {
    /// Panics unless this is an instruction with this opcode.
    fn expect(self, opcode: Opcode) {
        assert!(self.is(opcode), "expected {opcode:?}, found {}", self.text());
    }

    /// The block of an instruction.
    pub(crate) fn block(self) -> Block<'m> {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        let block = llvm!(Block::from_raw(LLVMGetInstructionParent(self.raw())));
        block.unwrap_or_else(|| panic!("an instruction that was erased: {}", self.text()))
    }

    /// The predicate of an `icmp`.
    pub(crate) fn int_predicate(self) -> IntPredicate {
        self.expect(Opcode::LLVMICmp);
        llvm!(LLVMGetICmpPredicate(self.raw()))
    }

    /// The predicate of an `fcmp`.
    pub(crate) fn real_predicate(self) -> RealPredicate {
        self.expect(Opcode::LLVMFCmp);
        llvm!(LLVMGetFCmpPredicate(self.raw()))
    }

    /// True for an `or` whose operands have no bit in common.
    pub(crate) fn is_disjoint(self) -> bool {
        self.expect(Opcode::LLVMOr);
        llvm!(LLVMGetIsDisjoint(self.raw())) != 0
    }

    /// True for an addition, subtraction, multiplication or left shift of unsigned numbers that does not overflow.
    pub(crate) fn has_no_unsigned_wrap(self) -> bool {
        let can = matches!(self.opcode(), Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl);
        assert!(can && self.is_instruction(), "it cannot wrap: {}", self.text());
        llvm!(LLVMGetNUW(self.raw())) != 0
    }

    /// The elements that a shuffle takes; -1 for one that may be anything.
    pub(crate) fn shuffle_pattern(self) -> Vec<i32> {
        self.expect(Opcode::LLVMShuffleVector);
        let count = llvm!(LLVMGetNumMaskElements(self.raw()));
        (0..count).map(|index| llvm!(LLVMGetMaskValue(self.raw(), index))).collect()
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        let has_indices = self.is(Opcode::LLVMExtractValue) || self.is(Opcode::LLVMInsertValue);
        assert!(has_indices, "no indices: {}", self.text());
        let count = llvm!(LLVMGetNumIndices(self.raw())) as usize;
        // SAFETY: such an instruction has a list of `count` indices, at least one.
        unsafe { std::slice::from_raw_parts(LLVMGetIndices(self.raw()), count) }.to_vec()
    }

    /// True for values whose alignment LLVM knows: accesses to memory and what is allocated there.
    fn has_alignment(self) -> bool {
        use Opcode::*;
        let opcodes = [LLVMLoad, LLVMStore, LLVMAlloca, LLVMAtomicRMW, LLVMAtomicCmpXchg];
        self.is_global_variable() || self.is_function() || self.is_instruction() && opcodes.contains(&self.opcode())
    }

    /// The alignment of an access, of an `alloca` or of a global; 0 for a global that states none.
    pub(crate) fn alignment(self) -> u32 {
        assert!(self.has_alignment(), "no alignment: {}", self.text());
        llvm!(LLVMGetAlignment(self.raw()))
    }

    pub(crate) fn set_alignment(self, align: u32) {
        assert!(self.has_alignment() && align.is_power_of_two(), "an alignment of {align}: {}", self.text());
        llvm!(LLVMSetAlignment(self.raw(), align))
    }

    /// True for a volatile load or store.
    pub(crate) fn is_volatile(self) -> bool {
        assert!(self.is_access(), "no access: {}", self.text());
        llvm!(LLVMGetVolatile(self.raw())) != 0
    }

    /// Makes a load or store volatile, or not.
    pub(crate) fn set_volatile(self, is_volatile: bool) {
        assert!(self.is_access(), "no access: {}", self.text());
        llvm!(LLVMSetVolatile(self.raw(), is_volatile.into()))
    }

    /// True for an atomic load or store.
    pub(crate) fn is_atomic(self) -> bool {
        assert!(self.is_access(), "no access: {}", self.text());
        llvm!(LLVMGetOrdering(self.raw())) != Ordering::LLVMAtomicOrderingNotAtomic
    }

    /// Makes a load or store atomic, without an order between it and others.
    pub(crate) fn make_atomic(self) {
        assert!(self.is_access(), "no access: {}", self.text());
        llvm!(LLVMSetOrdering(self.raw(), Ordering::LLVMAtomicOrderingMonotonic))
    }

    /// True for a load or store.
    pub(crate) fn is_access(self) -> bool {
        self.is(Opcode::LLVMLoad) || self.is(Opcode::LLVMStore)
    }

    /// The type of the memory that an `alloca` allocates.
    pub(crate) fn allocated_type(self) -> Type<'m> {
        self.expect(Opcode::LLVMAlloca);
        ty!(LLVMGetAllocatedType(self.raw()))
    }

    /// The type that the first index of a `getelementptr` steps over.
    pub(crate) fn source_element_type(self) -> Type<'m> {
        assert!(self.opcode() == Opcode::LLVMGetElementPtr, "no getelementptr: {}", self.text());
        ty!(LLVMGetGEPSourceElementType(self.raw()))
    }

    /// The incoming values and blocks of a phi.
    pub(crate) fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        self.expect(Opcode::LLVMPHI);
        let count = llvm!(LLVMCountIncoming(self.raw()));
        let block = |index| llvm!(Block::from_raw(LLVMGetIncomingBlock(self.raw(), index))).expect("a block");
        (0..count).map(|index| (value!(LLVMGetIncomingValue(self.raw(), index)), block(index))).collect()
    }

    /// True for an instruction that ends a block.
    pub(crate) fn is_terminator(self) -> bool {
        !llvm!(LLVMIsATerminatorInst(self.raw())).is_null()
    }

    /// The blocks that a terminator can go to.
    pub(crate) fn successors(self) -> Vec<Block<'m>> {
        assert!(self.is_terminator(), "no end of a block: {}", self.text());
        let count = llvm!(LLVMGetNumSuccessors(self.raw()));
        let block = |index| llvm!(Block::from_raw(LLVMGetSuccessor(self.raw(), index))).expect("a block");
        (0..count).map(block).collect()
    }

    /// The condition of a branch that has one; none for other terminators.
    pub(crate) fn condition(self) -> Option<Value<'m>> {
        let is_conditional = self.is(Opcode::LLVMBr) && llvm!(LLVMIsConditional(self.raw())) != 0;
        is_conditional.then(|| value!(LLVMGetCondition(self.raw())))
    }

    /// The function that a call calls, when it is known.
    pub(crate) fn callee(self) -> Option<Value<'m>> {
        self.expect(Opcode::LLVMCall);
        let called: Value<'m> = value!(LLVMGetCalledValue(self.raw()));
        called.is_function().then_some(called)
    }

    /// The function, or the pointer to one, that a call calls.
    pub(crate) fn called_value(self) -> Value<'m> {
        self.expect(Opcode::LLVMCall);
        value!(LLVMGetCalledValue(self.raw()))
    }

    /// The type of the function that a call calls.
    pub(crate) fn called_type(self) -> Type<'m> {
        self.expect(Opcode::LLVMCall);
        ty!(LLVMGetCalledFunctionType(self.raw()))
    }

    /// The arguments of a call.
    pub(crate) fn arguments(self) -> Vec<Value<'m>> {
        self.expect(Opcode::LLVMCall);
        let count = llvm!(LLVMGetNumArgOperands(self.raw()));
        (0..count as usize).map(|index| self.operand(index)).collect()
    }

    /// True for a call that no longer needs the variables of the caller.
    pub(crate) fn is_tail_call(self) -> bool {
        self.is(Opcode::LLVMCall) && llvm!(LLVMIsTailCall(self.raw())) != 0
    }

    /// Calls by the calling convention of another call.
    pub(crate) fn copy_calling_convention(self, from: Value<'m>) {
        self.expect(Opcode::LLVMCall);
        from.expect(Opcode::LLVMCall);
        llvm!(LLVMSetInstructionCallConv(self.raw(), LLVMGetInstructionCallConv(from.raw())))
    }

    /// Takes the flags that LLVM 14 does not know from an instruction: `nneg`, `disjoint`, `samesign`, no wrapping of
    /// `trunc`, and all of a `getelementptr` but `inbounds`.
    pub(crate) fn drop_new_flags(self) {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        match self.opcode() {
            Opcode::LLVMZExt | Opcode::LLVMUIToFP => llvm!(LLVMSetNNeg(self.raw(), 0)),
            Opcode::LLVMOr => llvm!(LLVMSetIsDisjoint(self.raw(), 0)),
            Opcode::LLVMICmp => llvm!(LLVMSetICmpSameSign(self.raw(), 0)),
            Opcode::LLVMTrunc => {
                llvm!(LLVMSetNUW(self.raw(), 0));
                llvm!(LLVMSetNSW(self.raw(), 0))
            }
            Opcode::LLVMGetElementPtr => {
                let flags = llvm!(LLVMGEPGetNoWrapFlags(self.raw()));
                llvm!(LLVMGEPSetNoWrapFlags(self.raw(), flags & inkwell::llvm_sys::LLVMGEPFlagInBounds))
            }
            _ => {}
        }
    }

    fn can_have_fast_math(self) -> bool {
        self.is_instruction() && llvm!(LLVMCanValueUseFastMathFlags(self.raw())) != 0
    }

    /// The fast-math flags of an instruction that can have them.
    pub(crate) fn fast_math(self) -> Option<u32> {
        self.can_have_fast_math().then(|| llvm!(LLVMGetFastMathFlags(self.raw())))
    }

    /// Sets the fast-math flags if the value can have them (constants cannot).
    pub(crate) fn set_fast_math(self, flags: u32) {
        if self.can_have_fast_math() {
            llvm!(LLVMSetFastMathFlags(self.raw(), flags));
        }
    }
}
