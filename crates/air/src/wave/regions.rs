//! Labels in long blocks.
//!
//! LLVM's scheduler compares each access to memory with those before it, up to the last label: its time grows faster than
//! the square of their number. Two thousand stores, such as those to an array on the stack with as many initializers, took
//! ten seconds; with a label after each 128, a third of a second. Code that runs often has shorter blocks.

use crate::ir::{Builder, ModuleRef, Opcode, Value};

/// Accesses of a block from which on it gets labels.
const LONG: usize = 512;
/// Accesses between two labels.
const REGION: usize = 128;

/// Divides the long blocks of a module.
pub(super) fn divide(module: ModuleRef) {
    let builder = Builder::new(module);
    for block in module.functions().into_iter().flat_map(|function| function.blocks()) {
        let accesses: Vec<Value> = block.instructions().into_iter().filter(|value| is_access(*value)).collect();
        if accesses.len() > LONG {
            for access in accesses.into_iter().step_by(REGION).skip(1) {
                builder.before(access);
                builder.label("region");
            }
        }
    }
}

fn is_access(value: Value) -> bool {
    match value.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore => true,
        Opcode::LLVMCall => {
            let name = value.callee().and_then(Value::intrinsic_name);
            name.is_some_and(|name| name.starts_with("llvm.masked."))
        }
        _ => false,
    }
}
