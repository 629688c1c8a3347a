//! Loops over private arrays. As long as `for (i…) sums[i] += …` is a loop, `sums` is memory; only where each `i` is a
//! number can its elements be registers. LLVM unrolls such loops when they are short, which is right for memory that
//! costs next to nothing: here each element takes 32 lanes, and unused elements of an array are read and written, too.
//!
//! Marked are loops whose count is a known small number and whose counter is a part of an index into an array of the
//! thread. All others are left to LLVM.

use super::graph::Graph;
use crate::ir::{Block, Opcode, Value};
use rustc_hash::FxHashSet;

/// The most rounds of a loop that is unrolled for its arrays.
const MOST_ROUNDS: i64 = 64;
/// The most instructions after unrolling.
const MOST_INSTRUCTIONS: i64 = 6000;

/// Asks LLVM to unroll loops over the arrays of `kernel`. For a GPU, whose private memory is far away, also those whose
/// count is not seen here, if LLVM can find it; and those with products of matrices, which are computed side by side,
/// unless the source says otherwise.
pub(crate) fn mark(kernel: Value, for_gpu: bool) {
    let Some(graph) = Graph::new(kernel) else { return };
    for (latch, successors) in graph.successors.iter().enumerate() {
        for &header in successors.iter().filter(|&&header| header <= latch) {
            let body = &graph.blocks[header..=latch];
            let instructions: i64 = body.iter().map(|block| block.instructions().len() as i64).sum();
            let Some(branch) = graph.blocks[latch].terminator() else { continue };
            let is_small = match rounds(graph.blocks[header], branch) {
                Some(rounds) => rounds <= MOST_ROUNDS && rounds * instructions <= MOST_INSTRUCTIONS,
                None => for_gpu,
            };
            let is_kept = || branch.has_loop_hint("llvm.loop.unroll.disable");
            if is_small && (counts_through_an_array(body) || for_gpu && has_products(body) && !is_kept()) {
                branch.set_loop_hint("llvm.loop.unroll.full");
            }
        }
    }
}

/// The number of rounds of a loop that counts from a number to a number, if `branch` at its end decides it.
fn rounds(header: Block, branch: Value) -> Option<i64> {
    let condition = branch.condition().filter(|condition| condition.is_instruction())?;
    if condition.opcode() != Opcode::LLVMICmp {
        return None;
    }
    let (counted, limit) = (condition.operand(0), condition.operand(1).as_int()?);
    // The comparison is with the counter after its step, or before it.
    let after = (counted.is_instruction() && counted.opcode() == Opcode::LLVMAdd).then(|| counted.operand(0));
    let phi = after.unwrap_or(counted);
    if !phi.is_instruction() || phi.opcode() != Opcode::LLVMPHI || phi.block() != header {
        return None;
    }
    let start = phi.incoming().iter().find_map(|(value, _)| value.as_int())?;
    let next = phi.incoming().into_iter().map(|(value, _)| value).find(|value| value.as_int().is_none())?;
    let step = (next.is_instruction() && next.opcode() == Opcode::LLVMAdd).then(|| next.operand(1).as_int())??;
    limit.checked_sub(start)?.checked_div(step)?.checked_abs()?.checked_add(1)
}

/// True if a block multiplies simdgroup matrices.
fn has_products(body: &[Block]) -> bool {
    body.iter().flat_map(|block| block.instructions()).any(|instruction| {
        let callee = if instruction.is(Opcode::LLVMCall) { instruction.callee() } else { None };
        callee.is_some_and(|callee| callee.name().starts_with("air.simdgroup_matrix_8x8_multiply"))
    })
}

/// True if an index into an array of the thread depends on a counter of the loop.
fn counts_through_an_array(body: &[Block]) -> bool {
    let mut counters: FxHashSet<Value> = FxHashSet::default();
    for &block in body {
        for instruction in block.instructions() {
            let is_counted = |operand: &Value| counters.contains(operand);
            match instruction.opcode() {
                Opcode::LLVMPHI if block == body[0] && instruction.ty().is_int() => {
                    counters.insert(instruction);
                }
                Opcode::LLVMGetElementPtr
                    if is_of_the_thread(instruction.operand(0))
                        && instruction.operands()[1..].iter().any(is_counted) =>
                {
                    return true;
                }
                Opcode::LLVMLoad | Opcode::LLVMGetElementPtr => {}
                _ if instruction.ty().is_int() && instruction.operands().iter().any(is_counted) => {
                    counters.insert(instruction);
                }
                _ => {}
            }
        }
    }
    false
}

/// True if a pointer points into an array of the thread.
fn is_of_the_thread(mut pointer: Value) -> bool {
    while pointer.is_instruction() && pointer.opcode() == Opcode::LLVMGetElementPtr {
        pointer = pointer.operand(0);
    }
    pointer.is_instruction() && pointer.opcode() == Opcode::LLVMAlloca
}
