//! Launches that overlap: an entry lets the next kernel be launched at once, and waits for the end of those before it. If
//! it was launched in the ordinary way, both are nothing.
//!
//! Weights do not change: an entry loads them before it waits. Buffers that it only reads, as bytes of its own format, are
//! taken for weights ([`early_buffers`]); whoever launches it checks that no kernel before it writes them.
//!
//! LLVM may move a load of memory that does not change before anything, also before a wait. So the addresses of all other
//! buffers come out of instructions after the wait, of which LLVM knows nothing. Loads from these are ordinary ones, too:
//! the kernels before write the buffers while this one waits, so that they are not constant as long as it runs.
//!
//! NVIDIA's assembler moves loads of constant memory (`ld.global.nc`) to where they are used, so that the early ones are
//! written as ordinary loads, and so are all in kernels with products of matrices, which load the operands of later steps
//! while they multiply.

use super::Architecture;
use crate::ir::{Builder, Opcode, Rewrite, Type, Value};
use abi::SimtParameter;
use msl::reflect::{Access, ArgumentKind, Kernel};
use rustc_hash::FxHashSet;

/// The first architecture that can.
const FIRST: u32 = 90;

/// Bytes that a thread loads before it waits, at most: they stay in registers.
const EARLY_BYTES: u64 = 160;

/// Bytes of a register.
const REGISTER: u64 = 4;

const LAUNCH: &str = "griddepcontrol.launch_dependents;";
const WAIT: &str = "griddepcontrol.wait;";

const GLOBAL: u32 = 1;

/// True if kernels for an architecture wait for those before them.
pub(super) fn can_wait(architecture: &Architecture) -> bool {
    architecture.number() >= FIRST
}

/// The indices of the buffers that a kernel may read before it waits.
pub(super) fn early_buffers(kernel: &Kernel) -> Vec<u32> {
    let is_early = |argument: &&msl::reflect::Argument| {
        argument.kind == ArgumentKind::Buffer
            && argument.access == Access::Read
            && argument.address_space == "device"
            && argument.element_type == "uchar"
    };
    kernel.arguments.iter().filter(is_early).map(|argument| argument.index).collect()
}

/// Lets an entry with these parameters wait, and moves loads from early buffers in its first block before that.
pub(super) fn wait<'m>(rewrite: &'m Rewrite, entry: Value<'m>, parameters: &[SimtParameter], early: &[u32]) {
    let b = Builder::new(rewrite.module());
    let Some(block) = entry.blocks().first().copied() else { return };
    let instructions = block.instructions();
    let Some(&first) = instructions.iter().find(|instruction| !instruction.is(Opcode::LLVMAlloca)) else { return };
    b.before(first);
    let void = Type::void(b.context());
    b.assembly(LAUNCH, "~{memory}", void, &[]);
    let wait = b.assembly(WAIT, "~{memory}", void, &[]);
    for (value, parameter) in entry.parameters().into_iter().zip(parameters) {
        let is_early = matches!(parameter, SimtParameter::Buffer { index } if early.contains(index));
        let ty = value.ty();
        if !is_early && ty.is_pointer() && ty.address_space() == GLOBAL && value.has_use() {
            let users = value.users();
            let known = b.assembly("", "=l,0", ty, &[value]);
            for user in users {
                for index in (0..user.operand_count()).filter(|&index| user.operand(index) == value) {
                    user.set_operand(index, known);
                }
            }
        }
    }
    move_loads(rewrite, &b, wait, &instructions);
}

/// Makes ordinary loads of those before the wait, or of all.
pub(super) fn with_ordinary_loads(ptx: &str, all: bool) -> String {
    let mut result = String::with_capacity(ptx.len());
    let mut is_early = false;
    for line in ptx.split_inclusive('\n') {
        is_early = line.contains(LAUNCH) || (is_early && !line.contains(WAIT));
        match (all || is_early) && line.contains("ld.global.nc.") {
            true => result.push_str(&line.replace("ld.global.nc.", "ld.global.")),
            false => result.push_str(line),
        }
    }
    result
}

/// Moves loads before the wait that need nothing after it.
fn move_loads<'m>(rewrite: &'m Rewrite, b: &Builder<'m>, wait: Value<'m>, instructions: &[Value<'m>]) {
    let layout = crate::ir::Layout::of(rewrite.module());
    let mut movable: FxHashSet<Value<'m>> = FxHashSet::default();
    let mut needed: FxHashSet<Value<'m>> = FxHashSet::default();
    let mut bytes = 0;
    for &instruction in instructions {
        let operands = instruction.operands();
        let is_known = |operand: &Value<'m>| !operand.is_instruction() || movable.contains(operand);
        if !can_move(instruction) || !operands.iter().all(is_known) {
            continue;
        }
        movable.insert(instruction);
        let is_load = instruction.is(Opcode::LLVMLoad) && instruction.operand(0).ty().address_space() == GLOBAL;
        let size = if is_load { layout.size(instruction.ty()).max(REGISTER) } else { 0 };
        if is_load && bytes + size <= EARLY_BYTES {
            bytes += size;
            let mut open = vec![instruction];
            while let Some(instruction) = open.pop() {
                if needed.insert(instruction) {
                    open.extend(instruction.operands().into_iter().filter(|operand| operand.is_instruction()));
                }
            }
        }
    }
    b.before(wait);
    for &instruction in instructions.iter().filter(|instruction| needed.contains(*instruction)) {
        rewrite.move_to(b, instruction);
    }
}

/// True if an instruction has no effect, and reads at most memory that its address is known for before the wait.
fn can_move(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMLoad => {
            const SHARED: u32 = 3;
            let space = instruction.operand(0).ty().address_space();
            !instruction.is_volatile() && !instruction.is_atomic() && space != SHARED
        }
        Opcode::LLVMCall => {
            let name = instruction.callee().and_then(Value::intrinsic_name);
            let known = ["llvm.nvvm.read.ptx.sreg.", "llvm.nvvm.shfl.sync.", "llvm.umin", "llvm.umax"];
            name.is_some_and(|name| known.iter().any(|known| name.starts_with(known)))
        }
        Opcode::LLVMPHI | Opcode::LLVMAlloca | Opcode::LLVMStore | Opcode::LLVMFence => false,
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMVAArg => false,
        _ => !instruction.is_terminator(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loads_before_the_wait_become_ordinary() {
        let load = "\tld.global.nc.b32 %r1, [%rd1];\n";
        let text = format!("{load}\t{LAUNCH}\n{load}\t{WAIT}\n{load}");
        let expected = format!("{load}\t{LAUNCH}\n{}\t{WAIT}\n{load}", load.replace(".nc", ""));
        assert_eq!(with_ordinary_loads(&text, false), expected);
        assert_eq!(with_ordinary_loads(&text, true), text.replace(".nc", ""));
    }
}
