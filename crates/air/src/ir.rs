//! A thin layer over LLVM's C interface for code that rewrites modules: values, types and blocks that are copied freely,
//! and a builder that does not care whether an operand is a scalar or a vector. (inkwell's typed values are the right
//! thing for building known types, as the lowering does, and in the way here.)
//!
//! Nothing here outlives the inkwell `Context` of the module it came from: that is the callers' part of the contract.
//! No method is given a null pointer, and a wrong type is found by the verifier that runs before anything else does.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
pub(crate) use inkwell::llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as AtomicOp, LLVMIntPredicate as IntPredicate,
    LLVMOpcode as Opcode, LLVMRealPredicate as RealPredicate, LLVMTypeKind as TypeKind,
};
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage, LLVMTypeKind};
use std::ffi::{CStr, CString};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// A type of LLVM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type(pub(crate) LLVMTypeRef);

/// A value of LLVM: a constant, an argument, an instruction, a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(pub(crate) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block(pub(crate) LLVMBasicBlockRef);

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

impl Value {
    pub(crate) fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    pub(crate) fn constant_vector(parts: &[Value]) -> Value {
        let mut parts: Vec<LLVMValueRef> = parts.iter().map(|part| part.0).collect();
        Value(unsafe { LLVMConstVector(parts.as_mut_ptr(), parts.len() as u32) })
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        unsafe {
            let text = LLVMGetValueName2(self.0, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
        }
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        unsafe {
            let raw = LLVMPrintValueToString(self.0);
            let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
            LLVMDisposeMessage(raw);
            text
        }
    }

    pub(crate) fn is_instruction(self) -> bool {
        !unsafe { LLVMIsAInstruction(self.0) }.is_null()
    }

    pub(crate) fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    pub(crate) fn is_undef(self) -> bool {
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    pub(crate) fn is_null(self) -> bool {
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    pub(crate) fn is_global_variable(self) -> bool {
        !unsafe { LLVMIsAGlobalVariable(self.0) }.is_null()
    }

    pub(crate) fn is_constant_expression(self) -> bool {
        !unsafe { LLVMIsAConstantExpr(self.0) }.is_null()
    }

    /// The value of an integer constant.
    pub(crate) fn as_int(self) -> Option<i64> {
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetSExtValue(self.0)) }
    }

    /// An element of a constant vector.
    pub(crate) fn constant_element(self, index: usize) -> Option<Value> {
        let element = unsafe { LLVMGetAggregateElement(self.0, index as u32) };
        (!element.is_null()).then_some(Value(element))
    }

    /// The elements that a shuffle takes; -1 for one that may be anything.
    pub(crate) fn shuffle_pattern(self) -> Vec<i32> {
        let count = unsafe { LLVMGetNumMaskElements(self.0) };
        (0..count).map(|index| unsafe { LLVMGetMaskValue(self.0, index) }).collect()
    }

    pub(crate) fn opcode(self) -> Opcode {
        unsafe { if self.is_instruction() { LLVMGetInstructionOpcode(self.0) } else { LLVMGetConstOpcode(self.0) } }
    }

    pub(crate) fn operand_count(self) -> usize {
        unsafe { LLVMGetNumOperands(self.0) as usize }
    }

    pub(crate) fn operand(self, index: usize) -> Value {
        Value(unsafe { LLVMGetOperand(self.0, index as u32) })
    }

    pub(crate) fn operands(self) -> Vec<Value> {
        (0..self.operand_count()).map(|index| self.operand(index)).collect()
    }

    /// The block of an instruction.
    pub(crate) fn block(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    pub(crate) fn int_predicate(self) -> IntPredicate {
        unsafe { LLVMGetICmpPredicate(self.0) }
    }

    pub(crate) fn real_predicate(self) -> RealPredicate {
        unsafe { LLVMGetFCmpPredicate(self.0) }
    }

    pub(crate) fn alignment(self) -> u32 {
        unsafe { LLVMGetAlignment(self.0) }
    }

    pub(crate) fn set_alignment(self, align: u32) {
        unsafe { LLVMSetAlignment(self.0, align) }
    }

    /// What an alloca allocates.
    pub(crate) fn allocated_type(self) -> Type {
        Type(unsafe { LLVMGetAllocatedType(self.0) })
    }

    /// What a getelementptr steps over.
    pub(crate) fn source_element_type(self) -> Type {
        Type(unsafe { LLVMGetGEPSourceElementType(self.0) })
    }

    /// The type of a global variable's value.
    pub(crate) fn global_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub(crate) fn initializer(self) -> Option<Value> {
        let value = unsafe { LLVMGetInitializer(self.0) };
        (!value.is_null()).then_some(Value(value))
    }

    /// The incoming values and blocks of a phi.
    pub(crate) fn incoming(self) -> Vec<(Value, Block)> {
        let count = unsafe { LLVMCountIncoming(self.0) };
        (0..count)
            .map(|i| unsafe { (Value(LLVMGetIncomingValue(self.0, i)), Block(LLVMGetIncomingBlock(self.0, i))) })
            .collect()
    }

    /// The blocks that a terminator can go to.
    pub(crate) fn successors(self) -> Vec<Block> {
        let count = unsafe { LLVMGetNumSuccessors(self.0) };
        (0..count).map(|i| Block(unsafe { LLVMGetSuccessor(self.0, i) })).collect()
    }

    /// The condition of a branch that has one.
    pub(crate) fn condition(self) -> Option<Value> {
        unsafe { (LLVMIsConditional(self.0) != 0).then(|| Value(LLVMGetCondition(self.0))) }
    }

    /// The function that a call calls, when it is known.
    pub(crate) fn callee(self) -> Option<Value> {
        let called = unsafe { LLVMGetCalledValue(self.0) };
        (!called.is_null() && unsafe { !LLVMIsAFunction(called).is_null() }).then_some(Value(called))
    }

    /// The arguments of a call.
    pub(crate) fn arguments(self) -> Vec<Value> {
        let count = unsafe { LLVMGetNumArgOperands(self.0) };
        (0..count as usize).map(|index| self.operand(index)).collect()
    }

    /// What a call says about the alignment of a pointer that it is given.
    pub(crate) fn argument_align(self, index: u32) -> u32 {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"align".as_ptr(), 5);
            let attribute = LLVMGetCallSiteEnumAttribute(self.0, index + 1, kind);
            if attribute.is_null() { 1 } else { LLVMGetEnumAttributeValue(attribute) as u32 }
        }
    }

    /// States the alignment of a pointer that a call is given.
    pub(crate) fn set_argument_align(self, index: u32, align: u32) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(c"align".as_ptr(), 5);
            let attribute = LLVMCreateEnumAttribute(self.ty().context(), kind, align.max(1).into());
            LLVMAddCallSiteAttribute(self.0, index + 1, attribute);
        }
    }

    /// The type of a function (not of a pointer to it).
    pub(crate) fn function_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    /// The parameters of a function.
    pub(crate) fn parameters(self) -> Vec<Value> {
        let count = unsafe { LLVMCountParams(self.0) };
        (0..count).map(|i| Value(unsafe { LLVMGetParam(self.0, i) })).collect()
    }

    /// Whether a function has no body.
    pub(crate) fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    /// The blocks of a function.
    pub(crate) fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut block = unsafe { LLVMGetFirstBasicBlock(self.0) };
        while !block.is_null() {
            blocks.push(Block(block));
            block = unsafe { LLVMGetNextBasicBlock(block) };
        }
        blocks
    }

    /// The instructions that use this value.
    pub(crate) fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        let mut item = unsafe { LLVMGetFirstUse(self.0) };
        while !item.is_null() {
            users.push(Value(unsafe { LLVMGetUser(item) }));
            item = unsafe { LLVMGetNextUse(item) };
        }
        users
    }

    pub(crate) fn replace_all_uses_with(self, other: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// Removes an instruction from its block and frees it. Nothing may use it any more.
    pub(crate) fn erase(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// The fast-math flags of an instruction that can have them.
    pub(crate) fn fast_math(self) -> Option<u32> {
        unsafe { (LLVMCanValueUseFastMathFlags(self.0) != 0).then(|| LLVMGetFastMathFlags(self.0)) }
    }

    /// Sets them where the value can have them (constants cannot).
    pub(crate) fn set_fast_math(self, flags: u32) {
        unsafe {
            if self.is_instruction() && LLVMCanValueUseFastMathFlags(self.0) != 0 {
                LLVMSetFastMathFlags(self.0, flags);
            }
        }
    }

    /// Makes a function invisible outside its module.
    pub(crate) fn make_internal(self) {
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage) }
    }

    /// Has every call of a function inlined.
    pub(crate) fn make_inlined(self) {
        for name in ["noinline", "optnone"] {
            unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                LLVMRemoveEnumAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, kind);
            }
        }
        self.add_attribute("alwaysinline");
    }

    /// Adds an attribute without a value (`convergent`) to a function.
    pub(crate) fn add_attribute(self, name: &str) {
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let attribute = LLVMCreateEnumAttribute(self.ty().context(), kind, 0);
            LLVMAddAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// A function's attribute of text (`"target-features"`).
    pub(crate) fn text_attribute(self, name: &str) -> Option<String> {
        unsafe {
            let length = name.len() as u32;
            let attribute =
                LLVMGetStringAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, name.as_ptr().cast(), length);
            if attribute.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(attribute, &mut length);
            Some(String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length as usize)).into_owned())
        }
    }

    /// Adds an attribute of text (`"no-builtins"`) to a function.
    pub(crate) fn add_text_attribute(self, name: &str, value: &str) {
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                self.ty().context(),
                name.as_ptr().cast(),
                name.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.0, LLVMAttributeFunctionIndex, attribute);
        }
    }
}

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
