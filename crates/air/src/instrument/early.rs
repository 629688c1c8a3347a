//! Checks that must be in the code before it is optimized at all: LLVM moves shifts and reads of elements out of
//! conditions, for they have no effect, takes a variable that was never written for any value, and forgets which rows and
//! fields an address is of.
//!
//! They are calls of one function, with the lines of their instructions; [`super::instrument`] numbers them.

use super::arithmetic::{elements, widened};
use super::variables;
use crate::ir::{Builder, IntPredicate, Layout, ModuleRef, Opcode, Rewrite, Type, Value};
use crate::specialize::initializer;
use abi::Operation;
use inkwell::module::Module;

/// A condition that must hold, the [`Operation`] and a number for the report, the size of the object and of the access:
/// `void (i1, i32, i64, i64, i32)`.
pub(super) const EARLY: &str = "metalworks.early";

/// Inserts the checks into a module as lowering leaves it.
pub(crate) fn insert(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    let module = rewrite.module();
    let pass = Early { b: Builder::new(module), layout: Layout::of(module), module };
    // The static initializer runs before the kernel, in the compiler.
    let initializer = initializer(module);
    let is_checked = |function: &Value| !function.is_declaration() && Some(*function) != initializer;
    for function in module.functions().into_iter().filter(is_checked) {
        let instructions: Vec<Value> =
            function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
        for instruction in instructions {
            match instruction.opcode() {
                Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => pass.shift(instruction),
                Opcode::LLVMExtractElement | Opcode::LLVMInsertElement => pass.element(instruction),
                Opcode::LLVMAlloca => variables::follow(&pass, instruction),
                Opcode::LLVMGetElementPtr => pass.inner_element(instruction),
                _ => {}
            }
        }
    }
}

pub(super) struct Early<'m> {
    pub(super) b: Builder<'m>,
    pub(super) layout: Layout<'m>,
    module: ModuleRef<'m>,
}

impl<'m> Early<'m> {
    pub(super) fn int(&self, bits: u32) -> Type<'m> {
        Type::int(self.module.context(), bits)
    }

    /// Checks a condition before an instruction. Code without a line is not of the program.
    pub(super) fn check(
        &self,
        at: Value<'m>,
        holds: Value<'m>,
        operation: Operation,
        number: Value<'m>,
        sizes: (u64, u64),
    ) {
        let lines = at.lines();
        let is_of_program = lines.first().is_some_and(|line| !is_header(&line.file));
        if !is_of_program || holds.as_int().is_some_and(|holds| holds != 0) {
            return;
        }
        let (int, wide) = (self.int(32), self.int(64));
        let function = self.module.function(EARLY).unwrap_or_else(|| {
            let types = [self.int(1), int, wide, wide, int];
            let function = self.module.add_function(EARLY, Type::void(self.module.context()).function(&types));
            function.add_attribute("convergent");
            function.add_attribute("nounwind");
            function
        });
        let arguments = [
            holds,
            int.constant(operation as i64),
            number,
            wide.constant(sizes.0 as i64),
            int.constant(sizes.1 as i64),
        ];
        self.b.call(function, &arguments).copy_line(at);
    }

    /// The language takes the lowest bits of a shift's count, and lowering a mask; the check is of the count before it.
    fn shift(&self, instruction: Value<'m>) {
        let by = instruction.operand(1);
        if !(by.is_instruction() && by.is(Opcode::LLVMAnd)) {
            return;
        }
        self.b.before(instruction);
        for count in elements(&self.b, by.operand(0)) {
            let bits = count.ty().int_bits();
            let holds = self.b.icmp(IntPredicate::LLVMIntULT, count, count.ty().constant(bits.into()));
            let number = widened(&self.b, count, self.int(64));
            self.check(instruction, holds, Operation::Shift, number, (0, bits.into()));
        }
    }

    /// The index of a vector's element.
    fn element(&self, instruction: Value<'m>) {
        let is_extract = instruction.is(Opcode::LLVMExtractElement);
        let index = instruction.operand(if is_extract { 1 } else { 2 });
        let vector = instruction.operand(0).ty();
        if index.as_int().is_some() || !index.ty().is_int() || index.ty().int_bits() > 64 {
            return;
        }
        let bytes = self.layout.size(vector.element());
        let operation = if is_extract { Operation::Read } else { Operation::Write };
        self.b.before(instruction);
        let limit = index.ty().constant(vector.length() as i64);
        let holds = self.b.icmp(IntPredicate::LLVMIntULT, index, limit);
        let offset = self.b.mul(widened(&self.b, index, self.int(64)), self.int(64).constant(bytes as i64));
        self.check(instruction, holds, operation, offset, (bytes * vector.length() as u64, bytes));
    }

    /// The index of an array that is a row of another array, or a field: an element outside may be inside of the object.
    fn inner_element(&self, element: Value<'m>) {
        let (array, index) = (element.operand(0), element.operand(1));
        let is_marked = array.is_instruction()
            && array.is(Opcode::LLVMGetElementPtr)
            && array.source_element_type().is_array()
            && element.operands().len() == 2
            && element.source_element_type() == array.source_element_type().element();
        if !is_marked || !index.ty().is_int() || index.ty().int_bits() > 64 {
            return;
        }
        let (all, bytes) =
            (self.layout.size(array.source_element_type()), self.layout.size(element.source_element_type()));
        let Some(count) = all.checked_div(bytes) else { return };
        for (access, operation) in accesses(element) {
            self.b.before(access);
            let holds = self.b.icmp(IntPredicate::LLVMIntULT, index, index.ty().constant(count as i64));
            let offset = self.b.mul(widened(&self.b, index, self.int(64)), self.int(64).constant(bytes as i64));
            self.check(access, holds, operation, offset, (all, bytes));
        }
    }
}

/// The loads and stores at an address, and at those that lie behind it.
fn accesses<'m>(address: Value<'m>) -> Vec<(Value<'m>, Operation)> {
    let of_user = |user: Value<'m>| match user.opcode() {
        Opcode::LLVMLoad => vec![(user, Operation::Read)],
        Opcode::LLVMStore if user.operand(1) == address => vec![(user, Operation::Write)],
        Opcode::LLVMGetElementPtr => accesses(user),
        _ => Vec::new(),
    };
    address.users().into_iter().flat_map(of_user).collect()
}

/// True for the Metal headers, whose code is not the program's.
fn is_header(file: &str) -> bool {
    file.is_empty() || file.starts_with('<') || file.starts_with("metal_") || file.starts_with("metal/")
}
