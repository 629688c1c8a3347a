//! Memory: accesses, addresses, atomics.

use super::*;
use crate::ir::values::value;

/// Panics unless a value is the address of something.
fn expect_pointer(pointer: Value) {
    assert!(pointer.ty().is_pointer(), "no pointer: {}", pointer.text());
}

impl<'m> Builder<'m> {
    pub(crate) fn load(&self, ty: Type<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        expect_pointer(pointer);
        let load: Value<'m> = value!(LLVMBuildLoad2(self.raw(), self.ty(ty), self.operand(pointer), NO_NAME));
        load.set_alignment(align);
        load
    }

    /// A load of memory that does not change while the function runs.
    pub(crate) fn load_invariant(&self, ty: Type<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        let load = self.load(ty, pointer, align);
        load.set_invariant();
        load
    }

    pub(crate) fn store(&self, value: Value<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        expect_pointer(pointer);
        assert!(value.ty().is_sized(), "a store of {}", value.text());
        let store: Value<'m> = value!(LLVMBuildStore(self.raw(), self.operand(value), self.operand(pointer)));
        store.set_alignment(align);
        store
    }

    /// `pointer + offset` in bytes; either may be a vector.
    pub(crate) fn offset(&self, pointer: Value<'m>, offset: Value<'m>) -> Value<'m> {
        let (at, by) = (pointer.ty(), offset.ty());
        let fits = !at.is_vector() || !by.is_vector() || at.length() == by.length();
        assert!(at.scalar().is_pointer() && by.scalar().is_int() && fits, "{} + {}", pointer.text(), offset.text());
        let byte = Type::int(self.context(), 8);
        let mut offset = self.operand(offset);
        value!(LLVMBuildGEP2(self.raw(), byte.raw(), self.operand(pointer), &mut offset, 1, NO_NAME))
    }

    pub(crate) fn alloca(&self, ty: Type<'m>, align: u32) -> Value<'m> {
        let alloca: Value<'m> = value!(LLVMBuildAlloca(self.raw(), self.ty(ty), NO_NAME));
        alloca.set_alignment(align);
        alloca
    }

    /// Memory for as long as the function runs, however often the code here does.
    pub(crate) fn entry_alloca(&self, ty: Type<'m>, align: u32) -> Value<'m> {
        let builder = Builder::new(self.module);
        let entry = *self.block().function().blocks().first().expect("the function has a block");
        match entry.first_instruction() {
            Some(first) => builder.before(first),
            None => builder.at_end(entry),
        }
        builder.alloca(ty, align)
    }

    pub(crate) fn atomic_rmw(&self, op: AtomicOp, pointer: Value<'m>, value: Value<'m>) -> Value<'m> {
        expect_pointer(pointer);
        let ty = value.ty();
        assert!(ty.is_element(), "an atomic operation on {}", value.text());
        let ordering = Ordering::LLVMAtomicOrderingMonotonic;
        let (pointer, value) = (self.operand(pointer), self.operand(value));
        value!(LLVMBuildAtomicRMW(self.raw(), op, pointer, value, ordering, 0))
    }

    pub(crate) fn atomic_load(&self, ty: Type<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        let load = self.load(ty, pointer, align);
        load.make_atomic();
        load
    }

    pub(crate) fn atomic_store(&self, value: Value<'m>, pointer: Value<'m>, align: u32) -> Value<'m> {
        let store = self.store(value, pointer, align);
        store.make_atomic();
        store
    }

    /// The pair of the value that was there, and whether it was exchanged.
    pub(crate) fn compare_exchange(
        &self,
        pointer: Value<'m>,
        expected: Value<'m>,
        desired: Value<'m>,
    ) -> Value<'m> {
        expect_pointer(pointer);
        let ty = expected.ty();
        assert!(ty == desired.ty() && (ty.is_int() || ty.is_pointer()), "an exchange of {}", expected.text());
        let ordering = Ordering::LLVMAtomicOrderingMonotonic;
        let (pointer, expected, desired) = (self.operand(pointer), self.operand(expected), self.operand(desired));
        value!(LLVMBuildAtomicCmpXchg(self.raw(), pointer, expected, desired, ordering, ordering, 0))
    }

    /// Limits an atomic access to the threads of a scope (`device`, `block`).
    pub(crate) fn set_scope(&self, access: Value<'m>, scope: &str) {
        use Opcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore};
        let can = [LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMLoad, LLVMStore];
        assert!(can.into_iter().any(|opcode| access.is(opcode)), "no atomic access: {}", access.text());
        assert!(!access.is_access() || access.is_atomic(), "no atomic access: {}", access.text());
        // The name has its length beside it.
        let id = llvm!(LLVMGetSyncScopeID(self.context().raw(), scope.as_ptr().cast(), scope.len()));
        llvm!(LLVMSetAtomicSyncScopeID(access.raw(), id))
    }

    /// Nothing moves across it.
    pub(crate) fn fence(&self) {
        llvm!(LLVMBuildFence(self.raw(), Ordering::LLVMAtomicOrderingSequentiallyConsistent, 0, NO_NAME));
    }
}
