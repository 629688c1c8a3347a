//! New instructions.

use super::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// Adds instructions to a block.
pub(crate) struct Builder {
    raw: LLVMBuilderRef,
    pub(crate) module: ModuleRef,
}

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

impl Builder {
    pub(crate) fn new(module: ModuleRef) -> Builder {
        Builder { raw: unsafe { LLVMCreateBuilderInContext(module.context()) }, module }
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        self.module.context()
    }

    pub(crate) fn at_end(&self, block: Block) {
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.0) }
    }

    pub(crate) fn before(&self, instruction: Value) {
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.0) }
    }

    pub(crate) fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.raw) })
    }

    pub(crate) fn binary(&self, opcode: Opcode, left: Value, right: Value) -> Value {
        Value(unsafe { LLVMBuildBinOp(self.raw, opcode, left.0, right.0, NO_NAME) })
    }

    pub(crate) fn add(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMAdd, left, right)
    }

    pub(crate) fn sub(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMSub, left, right)
    }

    pub(crate) fn mul(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMMul, left, right)
    }

    pub(crate) fn and(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMAnd, left, right)
    }

    pub(crate) fn or(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMOr, left, right)
    }

    pub(crate) fn xor(&self, left: Value, right: Value) -> Value {
        self.binary(Opcode::LLVMXor, left, right)
    }

    pub(crate) fn not(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildNot(self.raw, value.0, NO_NAME) })
    }

    pub(crate) fn fneg(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildFNeg(self.raw, value.0, NO_NAME) })
    }

    pub(crate) fn freeze(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.raw, value.0, NO_NAME) })
    }

    pub(crate) fn cast(&self, opcode: Opcode, value: Value, to: Type) -> Value {
        if value.ty() == to {
            return value;
        }
        Value(unsafe { LLVMBuildCast(self.raw, opcode, value.0, to.0, NO_NAME) })
    }

    pub(crate) fn bitcast(&self, value: Value, to: Type) -> Value {
        self.cast(Opcode::LLVMBitCast, value, to)
    }

    pub(crate) fn trunc(&self, value: Value, to: Type) -> Value {
        self.cast(Opcode::LLVMTrunc, value, to)
    }

    pub(crate) fn zext(&self, value: Value, to: Type) -> Value {
        self.cast(Opcode::LLVMZExt, value, to)
    }

    pub(crate) fn sext(&self, value: Value, to: Type) -> Value {
        self.cast(Opcode::LLVMSExt, value, to)
    }

    pub(crate) fn icmp(&self, predicate: IntPredicate, left: Value, right: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.raw, predicate, left.0, right.0, NO_NAME) })
    }

    pub(crate) fn fcmp(&self, predicate: RealPredicate, left: Value, right: Value) -> Value {
        Value(unsafe { LLVMBuildFCmp(self.raw, predicate, left.0, right.0, NO_NAME) })
    }

    pub(crate) fn select(&self, condition: Value, yes: Value, no: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.raw, condition.0, yes.0, no.0, NO_NAME) })
    }

    pub(crate) fn load(&self, ty: Type, pointer: Value, align: u32) -> Value {
        unsafe {
            let value = LLVMBuildLoad2(self.raw, ty.0, pointer.0, NO_NAME);
            LLVMSetAlignment(value, align);
            Value(value)
        }
    }

    /// A load of memory that does not change while the function runs.
    pub(crate) fn load_invariant(&self, ty: Type, pointer: Value, align: u32) -> Value {
        let value = self.load(ty, pointer, align);
        unsafe {
            let kind = LLVMGetMDKindIDInContext(self.context(), c"invariant.load".as_ptr(), 14);
            let node = LLVMMDNodeInContext2(self.context(), std::ptr::null_mut(), 0);
            LLVMSetMetadata(value.0, kind, LLVMMetadataAsValue(self.context(), node));
        }
        value
    }

    pub(crate) fn store(&self, value: Value, pointer: Value, align: u32) -> Value {
        unsafe {
            let store = LLVMBuildStore(self.raw, value.0, pointer.0);
            LLVMSetAlignment(store, align);
            Value(store)
        }
    }

    /// `pointer + offset` in bytes; either may be a vector.
    pub(crate) fn offset(&self, pointer: Value, offset: Value) -> Value {
        let byte = Type::int(self.context(), 8);
        let mut offset = offset.0;
        Value(unsafe { LLVMBuildGEP2(self.raw, byte.0, pointer.0, &mut offset, 1, NO_NAME) })
    }

    pub(crate) fn alloca(&self, ty: Type, align: u32) -> Value {
        unsafe {
            let value = LLVMBuildAlloca(self.raw, ty.0, NO_NAME);
            LLVMSetAlignment(value, align);
            Value(value)
        }
    }

    /// Memory for as long as the function runs, however often the code here does.
    pub(crate) fn entry_alloca(&self, ty: Type, align: u32) -> Value {
        let builder = Builder::new(self.module);
        unsafe {
            let entry = LLVMGetEntryBasicBlock(self.block().function().0);
            let first = LLVMGetFirstInstruction(entry);
            if first.is_null() {
                builder.at_end(Block(entry));
            } else {
                builder.before(Value(first));
            }
        }
        builder.alloca(ty, align)
    }

    pub(crate) fn extract(&self, vector: Value, index: Value) -> Value {
        Value(unsafe { LLVMBuildExtractElement(self.raw, vector.0, index.0, NO_NAME) })
    }

    pub(crate) fn insert(&self, vector: Value, element: Value, index: Value) -> Value {
        Value(unsafe { LLVMBuildInsertElement(self.raw, vector.0, element.0, index.0, NO_NAME) })
    }

    /// A shuffle with a fixed pattern; -1 for an element that may be anything.
    pub(crate) fn shuffle(&self, left: Value, right: Value, pattern: &[i32]) -> Value {
        let int = Type::int(self.context(), 32);
        let part = |&index: &i32| if index < 0 { int.poison() } else { int.constant(index.into()) };
        let pattern = Value::constant_vector(&pattern.iter().map(part).collect::<Vec<Value>>());
        Value(unsafe { LLVMBuildShuffleVector(self.raw, left.0, right.0, pattern.0, NO_NAME) })
    }

    pub(crate) fn extract_value(&self, aggregate: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.raw, aggregate.0, index, NO_NAME) })
    }

    pub(crate) fn phi(&self, ty: Type) -> Value {
        Value(unsafe { LLVMBuildPhi(self.raw, ty.0, NO_NAME) })
    }

    pub(crate) fn add_incoming(&self, phi: Value, value: Value, block: Block) {
        let (mut value, mut block) = (value.0, block.0);
        unsafe { LLVMAddIncoming(phi.0, &mut value, &mut block, 1) }
    }

    pub(crate) fn call(&self, function: Value, arguments: &[Value]) -> Value {
        self.call_pointer(function.function_type(), function, arguments)
    }

    pub(crate) fn call_pointer(&self, ty: Type, function: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|value| value.0).collect();
        Value(unsafe { LLVMBuildCall2(self.raw, ty.0, function.0, raw.as_mut_ptr(), raw.len() as u32, NO_NAME) })
    }

    /// Calls one of LLVM's own functions, overloaded on `types`. The name must exist.
    pub(crate) fn intrinsic(&self, name: &str, types: &[Type], arguments: &[Value]) -> Value {
        let function =
            self.module.intrinsic(name, types).unwrap_or_else(|| panic!("LLVM has no intrinsic '{name}'"));
        self.call(function, arguments)
    }

    pub(crate) fn branch(&self, to: Block) {
        unsafe { LLVMBuildBr(self.raw, to.0) };
    }

    pub(crate) fn branch_if(&self, condition: Value, yes: Block, no: Block) {
        unsafe { LLVMBuildCondBr(self.raw, condition.0, yes.0, no.0) };
    }

    pub(crate) fn ret_value(&self, value: Value) {
        unsafe { LLVMBuildRet(self.raw, value.0) };
    }

    pub(crate) fn ret(&self) {
        unsafe { LLVMBuildRetVoid(self.raw) };
    }

    pub(crate) fn atomic_rmw(&self, op: AtomicOp, pointer: Value, value: Value) -> Value {
        let ordering = Ordering::LLVMAtomicOrderingMonotonic;
        Value(unsafe { LLVMBuildAtomicRMW(self.raw, op, pointer.0, value.0, ordering, 0) })
    }

    pub(crate) fn atomic_load(&self, ty: Type, pointer: Value, align: u32) -> Value {
        let load = self.load(ty, pointer, align);
        unsafe { LLVMSetOrdering(load.0, Ordering::LLVMAtomicOrderingMonotonic) };
        load
    }

    pub(crate) fn atomic_store(&self, value: Value, pointer: Value, align: u32) -> Value {
        let store = self.store(value, pointer, align);
        unsafe { LLVMSetOrdering(store.0, Ordering::LLVMAtomicOrderingMonotonic) };
        store
    }

    /// Nothing moves across it.
    pub(crate) fn fence(&self) {
        unsafe { LLVMBuildFence(self.raw, Ordering::LLVMAtomicOrderingSequentiallyConsistent, 0, NO_NAME) };
    }

    /// The pair of the value that was there, and whether it was exchanged.
    pub(crate) fn compare_exchange(&self, pointer: Value, expected: Value, desired: Value) -> Value {
        let ordering = Ordering::LLVMAtomicOrderingMonotonic;
        Value(unsafe { LLVMBuildAtomicCmpXchg(self.raw, pointer.0, expected.0, desired.0, ordering, ordering, 0) })
    }
}
