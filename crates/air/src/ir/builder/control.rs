//! Control flow: calls, branches, phis.

use super::arithmetic::is_condition;
use super::*;
use crate::ir::values::value;

impl<'m> Builder<'m> {
    pub(crate) fn phi(&self, ty: Type<'m>) -> Value<'m> {
        value!(LLVMBuildPhi(self.raw(), self.ty(ty), NO_NAME))
    }

    pub(crate) fn add_incoming(&self, phi: Value<'m>, value: Value<'m>, block: Block<'m>) {
        assert!(phi.is(Opcode::LLVMPHI) && phi.ty() == value.ty(), "{} for {}", value.text(), phi.text());
        let (phi, mut value, mut block) = (self.operand(phi), self.operand(value), self.target(block));
        llvm!(LLVMAddIncoming(phi, &mut value, &mut block, 1))
    }

    pub(crate) fn call(&self, function: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.call_pointer(function.function_type(), function, arguments)
    }

    /// Calls a function of type `ty` at an address.
    pub(crate) fn call_pointer(&self, ty: Type<'m>, function: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let given = arguments.iter().map(|argument| argument.ty());
        assert!(function.ty().is_pointer(), "no function: {}", function.text());
        assert!(given.eq(ty.parameter_types()), "arguments that a {} does not take", ty.text());
        let function = self.operand(function);
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|&value| self.operand(value)).collect();
        value!(LLVMBuildCall2(self.raw(), ty.raw(), function, raw.as_mut_ptr(), raw.len() as u32, NO_NAME))
    }

    /// Calls one of LLVM's own functions, overloaded on `types`. It must exist.
    pub(crate) fn intrinsic(&self, name: &str, types: &[Type<'m>], arguments: &[Value<'m>]) -> Value<'m> {
        let call = self.intrinsic_if_known(name, types, arguments);
        call.unwrap_or_else(|| panic!("LLVM has no intrinsic '{name}' that takes these arguments"))
    }

    /// The same for a function that may not exist, or may take other arguments.
    pub(crate) fn intrinsic_if_known(
        &self,
        name: &str,
        types: &[Type<'m>],
        arguments: &[Value<'m>],
    ) -> Option<Value<'m>> {
        let function = self.module.intrinsic(name, types)?;
        let given = arguments.iter().map(|argument| argument.ty());
        given.eq(function.function_type().parameter_types()).then(|| self.call(function, arguments))
    }

    /// A label, which no instruction is moved across.
    pub(crate) fn label(&self, name: &str) {
        let function = self.module.intrinsic("llvm.codeview.annotation", &[]).expect("LLVM has labels");
        let name = Metadata::string(self.context(), name);
        // LLVM's function takes one node.
        let mut node = Metadata::node(self.context(), &[Some(name)]).as_value();
        let (ty, function) = (function.function_type(), self.operand(function));
        llvm!(LLVMBuildCall2(self.raw(), ty.raw(), function, &mut node, 1, NO_NAME));
    }

    /// Instructions of the machine, as text: one result, and arguments by LLVM's constraints. All lanes run them
    /// together.
    pub(crate) fn assembly(
        &self,
        text: &str,
        constraints: &str,
        result: Type<'m>,
        arguments: &[Value<'m>],
    ) -> Value<'m> {
        let types: Vec<Type<'m>> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = result.function(&types);
        let dialect = LLVMInlineAsmDialect::LLVMInlineAsmDialectATT;
        let (bytes, length) = (text.as_ptr().cast(), text.len());
        let (list, list_length) = (constraints.as_ptr().cast(), constraints.len());
        // Both texts have their length beside them. LLVM checks the constraints when the module is verified.
        let assembly: Value<'m> =
            value!(LLVMGetInlineAsm(ty.raw(), bytes, length, list, list_length, 1, 0, dialect, 0));
        let call = self.call_pointer(ty, assembly, arguments);
        call.add_call_attribute("convergent", 0);
        call.add_call_attribute("nounwind", 0);
        call
    }

    pub(crate) fn branch(&self, to: Block<'m>) {
        llvm!(LLVMBuildBr(self.raw(), self.target(to)));
    }

    pub(crate) fn branch_if(&self, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) {
        assert!(is_condition(condition.ty()), "a branch on {}", condition.text());
        llvm!(LLVMBuildCondBr(self.raw(), self.operand(condition), self.target(yes), self.target(no)));
    }

    /// Goes to the block beside the number that `value` is, or else to `other`.
    pub(crate) fn switch(&self, value: Value<'m>, other: Block<'m>, cases: &[(i64, Block<'m>)]) {
        let ty = value.ty();
        assert!(ty.is_int(), "a switch on {}", value.text());
        let switch =
            llvm!(LLVMBuildSwitch(self.raw(), self.operand(value), self.target(other), cases.len() as u32));
        for &(number, block) in cases {
            llvm!(LLVMAddCase(switch, ty.constant(number).raw(), self.target(block)));
        }
    }

    pub(crate) fn unreachable(&self) {
        llvm!(LLVMBuildUnreachable(self.raw()));
    }

    pub(crate) fn ret_value(&self, value: Value<'m>) {
        llvm!(LLVMBuildRet(self.raw(), self.operand(value)));
    }

    pub(crate) fn ret(&self) {
        llvm!(LLVMBuildRetVoid(self.raw()));
    }
}
