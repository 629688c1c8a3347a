//! Arrays of a thread that code writes and never reads: their stores go away, and so does the code for the stored
//! values. SROA does that for arrays whose indices are known. One that is indexed with a variable it leaves alone, and
//! an argument that is only copied into it would count as used.
//!
//! An array whose address goes anywhere else (a phi, a call, another array) is left alone.

use crate::ir::{Block, Opcode, Rewrite, Value};

/// Erases the stores to such arrays; returns true if there was one.
pub(super) fn drop_unread(rewrite: &Rewrite) -> bool {
    let blocks = rewrite.module().functions().into_iter().flat_map(Value::blocks);
    let is_array = |instruction: &Value| instruction.opcode() == Opcode::LLVMAlloca;
    let arrays: Vec<Value> = blocks.flat_map(Block::instructions).filter(is_array).collect();
    let unread: Vec<Vec<Value>> = arrays.into_iter().filter_map(only_written).collect();
    for instruction in unread.iter().flat_map(|instructions| instructions.iter().rev()) {
        rewrite.erase(*instruction);
    }
    !unread.is_empty()
}

/// The array and all instructions that have its address, each after those that it uses; `None` if one of them is more
/// than a store to it.
fn only_written(array: Value) -> Option<Vec<Value>> {
    let mut found = vec![array];
    let mut at = 0;
    while let Some(&pointer) = found.get(at) {
        for user in pointer.users() {
            if !is_address(user, pointer) && !is_write(user, pointer) {
                return None;
            }
            found.push(user);
        }
        at += 1;
    }
    Some(found)
}

/// True if an instruction computes an address in the memory at `pointer`.
fn is_address(user: Value, pointer: Value) -> bool {
    matches!(user.opcode(), Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast)
        && !user.ty().is_vector()
        && user.operand(0) == pointer
}

/// True if an instruction writes to `pointer`, and does nothing else with it.
fn is_write(user: Value, pointer: Value) -> bool {
    match user.opcode() {
        Opcode::LLVMStore => user.operand(0) != pointer && !user.is_volatile(),
        Opcode::LLVMCall => is_write_by_call(user, pointer),
        _ => false,
    }
}

/// True for a call that does so: one of LLVM's own functions that fill memory, or mark its lifetime.
fn is_write_by_call(call: Value, pointer: Value) -> bool {
    let name = call.callee().map(Value::name).unwrap_or_default();
    let arguments = call.arguments();
    match name.strip_prefix("llvm.").and_then(|name| name.split('.').next()) {
        Some("lifetime") => true,
        Some("memcpy" | "memmove" | "memset") => {
            let is_volatile = arguments.last().and_then(|last| last.as_int()) != Some(0);
            arguments[0] == pointer && arguments[1] != pointer && !is_volatile
        }
        _ => false,
    }
}
