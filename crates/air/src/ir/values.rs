//! Values: constants, instructions, functions.

use super::*;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;

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

    /// Whether anything uses this value.
    pub(crate) fn has_use(self) -> bool {
        !unsafe { LLVMGetFirstUse(self.0) }.is_null()
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

    /// Says something about the loop that a branch closes (`llvm.loop.unroll.full`), and takes back what was said before.
    pub(crate) fn set_loop_hint(self, hint: &str) {
        // SAFETY: the node has an operand, which becomes the node itself: that is how LLVM tells one loop from another.
        unsafe {
            let context = self.ty().context();
            let mut text = LLVMMDStringInContext2(context, hint.as_ptr().cast(), hint.len());
            let mut nodes = [LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0), std::ptr::null_mut()];
            nodes[1] = LLVMMDNodeInContext2(context, &mut text, 1);
            let node = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, nodes.as_mut_ptr(), 2));
            LLVMReplaceMDNodeOperandWith(node, 0, LLVMValueAsMetadata(node));
            const KIND: &str = "llvm.loop";
            let kind = LLVMGetMDKindIDInContext(context, KIND.as_ptr().cast(), KIND.len() as u32);
            LLVMSetMetadata(self.0, kind, node);
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
