//! Arithmetic on half where float flushes denormal numbers to zero. Metal's half never does, but LLVM flushes both or
//! neither. So sums and products of half are written as multiply-adds that are said not to flush, which the GPU computes
//! as fast, two at a time; and comparisons are those of float, to which every half is a normal number. This is done
//! last: LLVM's passes would make ordinary sums of them again.

use crate::ir::{Block, Builder, Opcode, Rewrite, Type, Value};

/// Rewrites all functions of a module.
pub(super) fn keep_denormals(rewrite: &Rewrite) {
    let module = rewrite.module();
    let b = Builder::new(module);
    for instruction in module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        let operands = instruction.operands();
        if !operands.first().is_some_and(|operand| operand.ty().scalar().is_half()) {
            continue;
        }
        b.before(instruction);
        let ty = operands[0].ty();
        let (one, minus_one, minus_zero) = (ty.real(1.0), ty.real(-1.0), ty.real(-0.0));
        let new = match (instruction.opcode(), &operands[..]) {
            (Opcode::LLVMFAdd, &[x, y]) => multiply_add(&b, [x, one, y]),
            (Opcode::LLVMFSub, &[x, y]) => multiply_add(&b, [y, minus_one, x]),
            (Opcode::LLVMFMul, &[x, y]) => multiply_add(&b, [x, y, minus_zero]),
            (Opcode::LLVMFNeg, &[x]) => multiply_add(&b, [x, minus_one, minus_zero]),
            (Opcode::LLVMFCmp, &[x, y]) => b.fcmp(instruction.real_predicate(), widened(&b, x), widened(&b, y)),
            (Opcode::LLVMCall, &[x, y, z, _]) if is_multiply_add(instruction) => multiply_add(&b, [x, y, z]),
            _ => continue,
        };
        instruction.replace_all_uses_with(new);
        rewrite.erase(instruction);
    }
}

fn is_multiply_add(call: Value) -> bool {
    let name = call.callee().and_then(Value::intrinsic_name);
    matches!(name.as_deref(), Some("llvm.fma" | "llvm.fmuladd"))
}

/// As float, which LLVM must not compute in half again.
fn widened<'m>(b: &Builder<'m>, value: Value<'m>) -> Value<'m> {
    let float = Type::float(b.context());
    let to = if value.ty().is_vector() { float.vector(value.ty().length()) } else { float };
    b.intrinsic("llvm.arithmetic.fence", &[to], &[b.cast(Opcode::LLVMFPExt, value, to)])
}

/// `x · y + z`, two elements at a time.
fn multiply_add<'m>(b: &Builder<'m>, operands: [Value<'m>; 3]) -> Value<'m> {
    let ty = operands[0].ty();
    if !ty.is_vector() {
        return b.intrinsic("llvm.nvvm.fma.rn.f16", &[], &operands);
    }
    let place = |index: usize| Type::int(b.context(), 32).constant(index as i64);
    let length = ty.length();
    (0..length).step_by(2).fold(ty.poison(), |result, start| {
        if start + 1 == length {
            let parts = operands.map(|operand| b.extract(operand, place(start)));
            return b.insert(result, multiply_add(b, parts), place(start));
        }
        let pattern = [start as i32, start as i32 + 1];
        let pairs = operands.map(|operand| b.shuffle(operand, operand.ty().poison(), &pattern));
        let pair = b.intrinsic("llvm.nvvm.fma.rn.f16x2", &[], &pairs);
        let first = b.insert(result, b.extract(pair, place(0)), place(start));
        b.insert(first, b.extract(pair, place(1)), place(start + 1))
    })
}
