//! Function pointers. A pointer to a function is a number, from 1, and a call through one is a switch over the functions
//! of its type whose address is taken, in a function of its own for each type. Any other number is a failure.
//!
//! The functions that were linked to the kernel ([`LINKED`]) come first, in their order: visible function tables hold
//! their numbers. Such a table is the count of its entries and then the entries, each an `i32`; 0 is none.

use super::fail_function;
use crate::ir::{Block, Builder, IntPredicate, ModuleRef, Opcode, Rewrite, Type, Value, passes};
use crate::thread::{Error, Result};
use inkwell::module::Module;
use rustc_hash::FxHashMap;

/// The array of the functions that are linked to a kernel.
pub(crate) const LINKED: &std::ffi::CStr = c"metalworks.linked";

/// An entry of a visible function table: `ptr (ptr addrspace(1), i32)`.
pub(crate) const TABLE_ENTRY: &str = "air.get_function_pointer_visible_function_table";

/// The number of entries of a visible function table: `i32 (ptr addrspace(1))`.
pub(crate) const TABLE_SIZE: &str = "air.get_size_visible_function_table";

const UNKNOWN: &str = "call through a function pointer that is null or was never set";

/// Replaces pointers to functions by numbers, and calls through them by direct ones.
pub(crate) fn resolve(module: &mut Module, failures: &mut Vec<String>) -> Result<()> {
    {
        let rewrite = Rewrite::new(module);
        read_tables(&rewrite);
        let pass = Pointers::new(&rewrite);
        if pass.is_needed() {
            pass.calls(failures);
            pass.values()?;
        }
    }
    passes::delete_global(module, LINKED);
    Ok(())
}

/// Has LLVM take a call through a null pointer for what it is here, a failure. Otherwise it may assume that none
/// happens.
pub(crate) fn expect_null(module: ModuleRef) {
    if !instructions(module).any(is_indirect) {
        return;
    }
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        function.add_attribute("null_pointer_is_valid");
    }
}

struct Pointers<'m> {
    rewrite: &'m Rewrite<'m>,
    module: ModuleRef<'m>,
    b: Builder<'m>,
    /// The functions whose address is taken: number `i + 1` at place `i`.
    functions: Vec<Value<'m>>,
}

impl<'m> Pointers<'m> {
    fn new(rewrite: &'m Rewrite<'m>) -> Pointers<'m> {
        let module = rewrite.module();
        let list = module.global(LINKED).and_then(Value::initializer);
        let mut functions: Vec<Value<'m>> = list.map(Value::operands).unwrap_or_default();
        functions.retain(|function| function.is_function());
        for value in constants(module) {
            add_functions(value, &mut functions);
        }
        Pointers { rewrite, module, b: Builder::new(module), functions }
    }

    fn is_needed(&self) -> bool {
        !self.functions.is_empty() || instructions(self.module).any(is_indirect)
    }

    /// Makes calls through pointers direct.
    fn calls(&self, failures: &mut Vec<String>) {
        let mut switches: FxHashMap<(Type<'m>, Type<'m>), Value<'m>> = FxHashMap::default();
        for call in instructions(self.module).filter(|&one| is_indirect(one)).collect::<Vec<_>>() {
            let (ty, pointer) = (call.called_type(), call.called_value());
            let switch = *switches.entry((ty, pointer.ty())).or_insert_with(|| {
                if !failures.iter().any(|failure| failure == UNKNOWN) {
                    failures.push(UNKNOWN.into());
                }
                let failure = failures.iter().position(|failure| failure == UNKNOWN).map_or(1, |at| at + 1);
                self.switch(ty, pointer.ty(), failure)
            });
            self.b.before(call);
            let mut arguments = vec![pointer];
            arguments.extend(call.arguments());
            let new = self.b.call(switch, &arguments);
            if !call.ty().is_void() && call.has_use() {
                call.replace_all_uses_with(new);
            }
            self.rewrite.erase(call);
        }
    }

    /// A function that calls the one with the number that its first argument is.
    fn switch(&self, ty: Type<'m>, pointer: Type<'m>, failure: usize) -> Value<'m> {
        let b = Builder::new(self.module);
        let context = self.module.context();
        let (int, wide) = (Type::int(context, 32), Type::int(context, 64));
        let mut parameters = vec![pointer];
        parameters.extend(ty.parameter_types());
        let function = self.module.add_function("call.pointer", ty.result_type().function(&parameters));
        function.make_internal();
        let [entry, other] = ["entry", "other"].map(|name| Block::append(function, name));
        let parameters = function.parameters();
        let mut cases = Vec::new();
        for (&candidate, number) in self.functions.iter().zip(1..) {
            if candidate.function_type() != ty {
                continue;
            }
            let block = Block::append(function, "");
            cases.push((number, block));
            b.at_end(block);
            let result = b.call(candidate, &parameters[1..]);
            if ty.result_type().is_void() { b.ret() } else { b.ret_value(result) }
        }
        b.at_end(entry);
        let number = b.trunc(b.cast(Opcode::LLVMPtrToInt, parameters[0], wide), int);
        b.switch(number, other, &cases);
        b.at_end(other);
        b.call(fail_function(self.module), &[int.constant(failure as i64)]);
        b.unreachable();
        function
    }

    /// Puts numbers in the place of functions that are used as values.
    fn values(&self) -> Result<()> {
        for instruction in instructions(self.module).collect::<Vec<_>>() {
            for (index, operand) in value_operands(instruction) {
                if names_function(operand) {
                    instruction.set_operand(index, self.number(operand)?);
                }
            }
        }
        for global in variables(self.module) {
            if let Some(value) = global.initializer().filter(|&value| names_function(value)) {
                global.set_initializer(self.number(value)?);
            }
        }
        Ok(())
    }

    /// A constant with numbers in the place of functions.
    fn number(&self, value: Value<'m>) -> Result<Value<'m>> {
        if let Some(index) = self.functions.iter().position(|&function| function == value) {
            return Ok(value.ty().pointer_number(index as i64 + 1));
        }
        if !names_function(value) {
            return Ok(value);
        }
        // Compared with another, as a number.
        if value.is_constant_expression() && value.ty().is_int() && value.operand_count() == 1 {
            let function = value.operand(0);
            if let Some(index) = self.functions.iter().position(|&other| other == function) {
                return Ok(value.ty().constant(index as i64 + 1));
            }
        }
        if !(value.ty().is_array() || value.ty().is_struct()) {
            return Err(Error::Unsupported(format!("the address of a function in '{}'", value.text())));
        }
        let parts: Result<Vec<Value<'m>>> = value.operands().into_iter().map(|part| self.number(part)).collect();
        Ok(value.ty().constant_aggregate(&parts?))
    }
}

/// Loads from visible function tables, in the place of calls that read them.
fn read_tables(rewrite: &Rewrite) {
    let module = rewrite.module();
    let b = Builder::new(module);
    let (int, wide) = (Type::int(module.context(), 32), Type::int(module.context(), 64));
    for instruction in instructions(module).collect::<Vec<_>>() {
        let Some(callee) = instruction.is(Opcode::LLVMCall).then(|| instruction.callee()).flatten() else {
            continue;
        };
        let (name, arguments) = (callee.name(), instruction.arguments());
        let Some(&table) = arguments.first().filter(|table| table.ty().is_pointer()) else { continue };
        b.before(instruction);
        let value = match arguments.get(1) {
            Some(&index) if name == TABLE_ENTRY && index.ty() == int && instruction.ty().is_pointer() => {
                let fits = b.icmp(IntPredicate::LLVMIntULT, index, b.load(int, table, 4));
                // An index beyond the end reads the count, and is no function.
                let offset = b.mul(b.add(b.zext(index, wide), wide.constant(1)), wide.constant(4));
                let entry = b.load(int, b.offset(table, b.select(fits, offset, wide.zero())), 4);
                let number = b.zext(b.select(fits, entry, int.zero()), wide);
                b.cast(Opcode::LLVMIntToPtr, number, instruction.ty())
            }
            None if name == TABLE_SIZE && instruction.ty() == int => b.load(int, table, 4),
            _ => continue,
        };
        instruction.replace_all_uses_with(value);
        rewrite.erase(instruction);
    }
}

fn instructions<'m>(module: ModuleRef<'m>) -> impl Iterator<Item = Value<'m>> {
    module.functions().into_iter().flat_map(|function| function.blocks()).flat_map(|block| block.instructions())
}

/// The variables of the program; LLVM's own lists are left out, and ours.
fn variables(module: ModuleRef<'_>) -> impl Iterator<Item = Value<'_>> {
    let is_list = |name: &str| name.starts_with("llvm.") || name.as_bytes() == LINKED.to_bytes();
    module.globals().into_iter().filter(move |global| !is_list(&global.name()))
}

/// The constants that may name functions as values.
fn constants<'m>(module: ModuleRef<'m>) -> Vec<Value<'m>> {
    let operands = instructions(module).flat_map(value_operands).map(|(_, operand)| operand);
    let initializers = variables(module).filter_map(Value::initializer);
    operands.chain(initializers).filter(|&value| names_function(value)).collect()
}

/// The operands of an instruction, without the function that a call calls.
fn value_operands<'m>(instruction: Value<'m>) -> Vec<(usize, Value<'m>)> {
    let mut operands: Vec<(usize, Value<'m>)> = instruction.operands().into_iter().enumerate().collect();
    if instruction.is(Opcode::LLVMCall) {
        operands.truncate(instruction.arguments().len());
    }
    operands
}

/// True for a call through a pointer.
fn is_indirect(instruction: Value) -> bool {
    instruction.is(Opcode::LLVMCall) && instruction.callee().is_none() && !instruction.called_value().is_assembly()
}

/// True for a constant that a function with a body is part of.
fn names_function(value: Value) -> bool {
    if value.is_function() {
        return !value.is_declaration();
    }
    !value.is_instruction()
        && value.is_constant()
        && !value.is_global()
        && value.operands().into_iter().any(names_function)
}

fn add_functions<'m>(value: Value<'m>, functions: &mut Vec<Value<'m>>) {
    if !value.is_function() {
        value
            .operands()
            .into_iter()
            .filter(|&part| names_function(part))
            .for_each(|part| add_functions(part, functions));
    } else if !functions.contains(&value) {
        functions.push(value);
    }
}
