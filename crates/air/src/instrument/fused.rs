//! Products and sums that become one operation, as in code without checks.
//!
//! LLVM's code generator fuses a product and a sum of one block, if both allow it. Checks split blocks, so that a product
//! would be rounded here which the plain run does not round. So they are fused before the checks are expanded, in the
//! order in which LLVM tries them.

use crate::ir::{Block, Builder, Opcode, Rewrite, Value};
use inkwell::llvm_sys::LLVMFastMathAllowContract;
use inkwell::module::Module;

/// Fuses products and sums of all functions.
pub(crate) fn fuse(module: &mut Module) {
    let rewrite = Rewrite::new(module);
    let b = Builder::new(rewrite.module());
    for sum in rewrite.module().functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        let is_difference = sum.is(Opcode::LLVMFSub);
        if !(is_difference || sum.is(Opcode::LLVMFAdd)) || !may_contract(sum) {
            continue;
        }
        let (left, right) = (sum.operand(0), sum.operand(1));
        let Some(product) = [left, right].into_iter().find(|value| is_product_of(*value, sum)) else { continue };
        let (x, y) = (product.operand(0), product.operand(1));
        b.before(sum);
        let operands = match (product == left, is_difference) {
            (true, false) => [x, y, right],
            (true, true) => [x, y, b.fneg(right)],
            (false, false) => [x, y, left],
            (false, true) => [b.fneg(x), y, left],
        };
        let fused = b.intrinsic("llvm.fmuladd", &[sum.ty()], &operands);
        fused.set_fast_math(sum.fast_math().unwrap_or(0));
        sum.replace_all_uses_with(fused);
        rewrite.erase(sum);
        rewrite.erase(product);
    }
}

fn may_contract(instruction: Value) -> bool {
    instruction.fast_math().is_some_and(|flags| flags & LLVMFastMathAllowContract != 0)
}

/// True for a product that only this sum uses, in the same block.
fn is_product_of(value: Value, sum: Value) -> bool {
    value.is(Opcode::LLVMFMul) && may_contract(value) && value.block() == sum.block() && value.users() == [sum]
}
