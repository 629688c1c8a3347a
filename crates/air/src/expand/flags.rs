//! Fast mathematics without its promises: that no number is NaN (`nnan`) or infinite (`ninf`).
//!
//! Kernels use infinity as a start value and test for NaN all the same. LLVM would take a sum with infinity for poison,
//! and a test for NaN for false. So the promises go before LLVM's passes see them. The rest of fast mathematics (other
//! orders, reciprocals, fused operations) stays.

use crate::ir::{Block, Builder, Opcode, Rewrite, Value};
use inkwell::llvm_sys::{LLVMFastMathNoInfs, LLVMFastMathNoNaNs};

/// The same as attributes of functions, for LLVM's code generators.
pub(crate) const PROMISING: [&str; 5] =
    ["approx-func-fp-math", "no-infs-fp-math", "no-nans-fp-math", "no-signed-zeros-fp-math", "unsafe-fp-math"];

const PROMISES: u32 = LLVMFastMathNoNaNs | LLVMFastMathNoInfs;

/// Takes the promises from all instructions and functions of a module.
pub(crate) fn drop_promises(rewrite: &Rewrite) {
    for function in rewrite.module().functions() {
        PROMISING.iter().for_each(|name| function.remove_text_attribute(name));
    }
    drop_flags(rewrite, PROMISES);
}

/// Takes flags from all instructions of a module.
pub(crate) fn drop_flags(rewrite: &Rewrite, dropped: u32) {
    let module = rewrite.module();
    let b = Builder::new(module);
    for instruction in module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        let Some(flags) = instruction.fast_math().filter(|flags| flags & dropped != 0) else { continue };
        b.before(instruction);
        // LLVM's interface can add flags to an instruction, and take none away.
        if let Some(copy) = without_flags(&b, instruction) {
            copy.set_fast_math(flags & !dropped);
            instruction.replace_all_uses_with(copy);
            rewrite.erase(instruction);
        }
    }
}

/// A copy of an instruction without its flags; `None` for one that cannot be copied.
fn without_flags<'m>(b: &Builder<'m>, instruction: Value<'m>) -> Option<Value<'m>> {
    let operand = |index| instruction.operand(index);
    Some(match instruction.opcode() {
        opcode @ (Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv | Opcode::LLVMFRem) => {
            b.binary(opcode, operand(0), operand(1))
        }
        Opcode::LLVMFNeg => b.fneg(operand(0)),
        Opcode::LLVMFCmp => b.fcmp(instruction.real_predicate(), operand(0), operand(1)),
        Opcode::LLVMSelect => b.select(operand(0), operand(1), operand(2)),
        opcode @ (Opcode::LLVMFPExt | Opcode::LLVMFPTrunc | Opcode::LLVMSIToFP | Opcode::LLVMUIToFP) => {
            b.cast(opcode, operand(0), instruction.ty())
        }
        Opcode::LLVMPHI => {
            let phi = b.phi(instruction.ty());
            instruction.incoming().into_iter().for_each(|(value, block)| b.add_incoming(phi, value, block));
            phi
        }
        Opcode::LLVMCall => {
            let call = b.call(instruction.callee()?, &instruction.arguments());
            call.copy_calling_convention(instruction);
            call
        }
        _ => return None,
    })
}
