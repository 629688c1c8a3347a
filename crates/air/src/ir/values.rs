//! Values of every kind: types, names, operands, uses.

use super::types::ty;
use super::*;
use inkwell::llvm_sys::core::*;

/// Wraps a value that LLVM returns for values, types or a module of `'m`: it lives as long as they do.
macro_rules! value {
    ($call:expr) => {
        llvm!(Value::from_raw($call)).expect("LLVM returns a value")
    };
}
pub(super) use value;

impl<'m> Value<'m> {
    pub(crate) fn ty(self) -> Type<'m> {
        ty!(LLVMTypeOf(self.raw()))
    }

    /// The name; empty where there is none.
    pub(crate) fn name(self) -> String {
        let mut length = 0;
        // The name has `length` bytes.
        llvm!(text(LLVMGetValueName2(self.raw(), &mut length), length))
    }

    pub(crate) fn set_name(self, name: &str) {
        assert!(self.has_list_of_uses(), "the name of {}", self.text());
        llvm!(LLVMSetValueName2(self.raw(), name.as_ptr().cast(), name.len()))
    }

    /// As LLVM prints it.
    pub(crate) fn text(self) -> String {
        llvm!(message(LLVMPrintValueToString(self.raw())))
    }

    pub(crate) fn is_instruction(self) -> bool {
        !llvm!(LLVMIsAInstruction(self.raw())).is_null()
    }

    pub(crate) fn is_argument(self) -> bool {
        !llvm!(LLVMIsAArgument(self.raw())).is_null()
    }

    /// True for functions, variables and their kin.
    pub(crate) fn is_global(self) -> bool {
        !llvm!(LLVMIsAGlobalValue(self.raw())).is_null()
    }

    /// True for the text of instructions of some machine.
    pub(crate) fn is_assembly(self) -> bool {
        !llvm!(LLVMIsAInlineAsm(self.raw())).is_null()
    }

    /// The opcode of an instruction or constant expression.
    pub(crate) fn opcode(self) -> Opcode {
        if self.is_instruction() {
            return llvm!(LLVMGetInstructionOpcode(self.raw()));
        }
        assert!(self.is_constant_expression(), "no instruction: {}", self.text());
        llvm!(LLVMGetConstOpcode(self.raw()))
    }

    /// True for an instruction with this opcode.
    pub(crate) fn is(self, opcode: Opcode) -> bool {
        self.is_instruction() && llvm!(LLVMGetInstructionOpcode(self.raw())) == opcode
    }

    pub(crate) fn operand_count(self) -> usize {
        if llvm!(LLVMIsAUser(self.raw())).is_null() {
            return 0;
        }
        llvm!(LLVMGetNumOperands(self.raw())).max(0) as usize
    }

    /// An operand of an instruction or constant.
    pub(crate) fn operand(self, index: usize) -> Value<'m> {
        let count = self.operand_count();
        assert!(index < count, "operand {index} of {count}: {}", self.text());
        value!(LLVMGetOperand(self.raw(), index as u32))
    }

    pub(crate) fn operands(self) -> Vec<Value<'m>> {
        (0..self.operand_count()).map(|index| value!(LLVMGetOperand(self.raw(), index as u32))).collect()
    }

    /// Puts another value in the place of an operand of an instruction.
    pub(crate) fn set_operand(self, index: usize, value: Value<'m>) {
        assert!(self.is_instruction(), "no instruction: {}", self.text());
        assert!(self.operand(index).ty() == value.ty(), "{} in {}", value.text(), self.text());
        assert!(self.module().is_some_and(|module| value.belongs_to(module)), "a value of another module");
        llvm!(LLVMSetOperand(self.raw(), index as u32, value.raw()))
    }

    /// The instructions and constants that use this instruction, argument or global, once for each use.
    pub(crate) fn users(self) -> Vec<Value<'m>> {
        // Numbers have no list of uses.
        assert!(self.has_list_of_uses(), "the users of {}", self.text());
        let mut users = Vec::new();
        let mut item = llvm!(LLVMGetFirstUse(self.raw()));
        while !item.is_null() {
            // A use of a live value is alive.
            users.push(value!(LLVMGetUser(item)));
            item = llvm!(LLVMGetNextUse(item));
        }
        users
    }

    /// True if something uses this instruction, argument or global.
    pub(crate) fn has_use(self) -> bool {
        assert!(self.has_list_of_uses(), "the uses of {}", self.text());
        !llvm!(LLVMGetFirstUse(self.raw())).is_null()
    }

    fn has_list_of_uses(self) -> bool {
        self.is_instruction() || self.is_argument() || self.is_global()
    }

    /// Puts `other` in the place of an instruction or argument. (Not of a global: nodes of metadata may name it, and
    /// LLVM frees nodes that become equal to others.)
    pub(crate) fn replace_all_uses_with(self, other: Value<'m>) {
        assert!(self.is_instruction() || self.is_argument(), "uses of {} are replaced", self.text());
        assert!(self.ty() == other.ty() && self != other, "{} in the place of {}", other.text(), self.text());
        assert!(self.module().is_some_and(|module| other.belongs_to(module)), "a value of another module");
        llvm!(LLVMReplaceAllUsesWith(self.raw(), other.raw()))
    }

    /// The module that an instruction, argument or global is in; none for an instruction that was erased.
    pub(crate) fn module(self) -> Option<ModuleRef<'m>> {
        let function = if self.is_instruction() {
            let block: Block<'m> = llvm!(Block::from_raw(LLVMGetInstructionParent(self.raw())))?;
            block.function()
        } else if self.is_argument() {
            value!(LLVMGetParamParent(self.raw()))
        } else {
            assert!(self.is_global(), "a constant is in no module: {}", self.text());
            self
        };
        // SAFETY: a value that is alive for `'m` is in a module that is.
        unsafe { ModuleRef::from_raw(LLVMGetGlobalParent(function.raw())) }
    }

    /// True for a global, or a constant with one in it.
    pub(crate) fn mentions_global(self) -> bool {
        self.is_global() || self.is_constant() && self.operands().into_iter().any(Value::mentions_global)
    }

    /// True if code in `module` may use this value: it is of this module, or a constant of its context.
    pub(super) fn belongs_to(self, module: ModuleRef<'m>) -> bool {
        if self.is_instruction() || self.is_argument() || self.is_global() {
            return self.module() == Some(module);
        }
        // The operands of a constant may be globals.
        self.ty().context() == module.context() && self.operands().into_iter().all(|part| part.belongs_to(module))
    }
}
