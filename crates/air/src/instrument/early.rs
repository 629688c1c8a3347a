//! Checks that must be in the code before it is optimized at all: LLVM moves shifts and reads of elements out of
//! conditions, for they have no effect, and takes a variable that was never written for any value.
//!
//! They are calls of one function, with the lines of their instructions; [`super::instrument`] numbers them.

use super::arithmetic::{elements, widened};
use crate::ir::{Builder, IntPredicate, Layout, ModuleRef, Opcode, Rewrite, Type, Value};
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
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        let instructions: Vec<Value> =
            function.blocks().into_iter().flat_map(|block| block.instructions()).collect();
        for instruction in instructions {
            match instruction.opcode() {
                Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => pass.shift(instruction),
                Opcode::LLVMExtractElement | Opcode::LLVMInsertElement => pass.element(instruction),
                Opcode::LLVMAlloca => pass.variable(instruction),
                _ => {}
            }
        }
    }
}

struct Early<'m> {
    b: Builder<'m>,
    layout: Layout<'m>,
    module: ModuleRef<'m>,
}

impl<'m> Early<'m> {
    fn int(&self, bits: u32) -> Type<'m> {
        Type::int(self.module.context(), bits)
    }

    /// Checks a condition before an instruction. Code without a line is not of the program.
    fn check(&self, at: Value<'m>, holds: Value<'m>, operation: Operation, number: Value<'m>, sizes: (u64, u64)) {
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

    /// Follows the writes of a variable that is a number, or an array of numbers, and that is only loaded and stored:
    /// a flag for each is set with it, and must be set where it is read.
    fn variable(&self, variable: Value<'m>) {
        /// Larger arrays would not become registers anyway.
        const MOST: u64 = 64;
        let ty = variable.allocated_type();
        // Lowering makes arrays of bytes: the type of an element is that of its addresses.
        let addresses = variable.users().into_iter().filter(|user| user.is(Opcode::LLVMGetElementPtr));
        let element = if ty.is_array() { addresses.map(Value::source_element_type).next() } else { Some(ty) };
        let is_number = |ty: &Type<'m>| ty.is_int() || ty.is_floating_point();
        let Some(element) = element.filter(is_number) else { return };
        let count = self.layout.size(ty) / self.layout.size(element).max(1);
        if count > MOST || variable.operand(0).as_int() != Some(1) {
            return;
        }
        let mut accesses = Vec::new();
        for user in variable.users() {
            let Some(index) = self.index_of(variable, user, element) else { return };
            match index {
                Index::Nothing => {}
                Index::At(access) => accesses.push((access, None)),
                Index::Element(address, index) => {
                    for access in address.users() {
                        if !is_access_of(access, address) {
                            return;
                        }
                        accesses.push((access, Some(index)));
                    }
                }
            }
        }
        let is_whole = |access: &Value<'m>| {
            let ty = if access.is(Opcode::LLVMLoad) { access.ty() } else { access.operand(0).ty() };
            self.layout.size(ty) == self.layout.size(element)
        };
        // A variable that is never read needs nothing; one that is never written belongs to somebody else.
        let reads = accesses.iter().any(|(access, _)| access.is(Opcode::LLVMLoad));
        if !reads || !accesses.iter().all(|(access, _)| is_whole(access)) {
            return;
        }
        let flag = self.int(8);
        self.b.before(variable);
        let flags = self.b.alloca(flag.array(count), 1);
        let Some(next) = variable.block().instructions().into_iter().skip_while(|other| *other != variable).nth(1)
        else {
            return;
        };
        self.b.before(next);
        for index in 0..count {
            let at = self.b.offset(flags, self.int(64).constant(index as i64));
            self.b.store(flag.zero(), at, 1);
        }
        for (access, index) in accesses {
            self.b.before(access);
            let wide = self.int(64);
            let index = index.map_or(wide.zero(), |index| widened(&self.b, index, wide));
            // An index outside is found elsewhere, and must not lead outside of the flags.
            let inside = self.b.icmp(IntPredicate::LLVMIntULT, index, wide.constant(count as i64));
            let at = self.b.offset(flags, self.b.select(inside, index, wide.zero()));
            if access.is(Opcode::LLVMStore) {
                self.b.store(flag.constant(1), at, 1);
            } else {
                let written = self.b.load(flag, at, 1);
                let is_written = self.b.icmp(IntPredicate::LLVMIntNE, written, flag.zero());
                let holds = self.b.or(is_written, self.b.not(inside));
                self.check(access, holds, Operation::Uninitialized, wide.zero(), (0, 0));
            }
        }
    }

    /// The way in which an instruction uses a variable; none if it may pass its address on.
    fn index_of(&self, variable: Value<'m>, user: Value<'m>, element: Type<'m>) -> Option<Index<'m>> {
        match user.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMStore if is_access_of(user, variable) => Some(Index::At(user)),
            Opcode::LLVMCall => {
                let name = user.callee().and_then(Value::intrinsic_name).unwrap_or_default();
                name.starts_with("llvm.lifetime.").then_some(Index::Nothing)
            }
            Opcode::LLVMGetElementPtr if user.source_element_type() == element => {
                let operands = user.operands();
                (operands.len() == 2).then(|| Index::Element(user, operands[1]))
            }
            _ => None,
        }
    }
}

enum Index<'m> {
    /// No access.
    Nothing,
    /// An access to the variable itself.
    At(Value<'m>),
    /// The address of an element, and its index.
    Element(Value<'m>, Value<'m>),
}

/// True for a load from an address or a store to it.
fn is_access_of(access: Value, address: Value) -> bool {
    match access.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => access.operand(1) == address && access.operand(0) != address,
        _ => false,
    }
}

/// True for the Metal headers, whose code is not the program's.
fn is_header(file: &str) -> bool {
    file.is_empty() || file.starts_with('<') || file.starts_with("metal_") || file.starts_with("metal/")
}
