//! What LLVM 14 does not know is taken away: Apple's drivers are of its age. New flags go; new intrinsics become plain
//! instructions.

use crate::ir::{Block, Builder, IntPredicate, Opcode, Rewrite, Value};
use crate::lower::{Error, Result};

/// LLVM's own functions that may be in a library. LLVM 14 knows them all.
pub(super) const INTRINSICS: [&str; 36] = [
    "llvm.abs",
    "llvm.assume",
    "llvm.bitreverse",
    "llvm.bswap",
    "llvm.ceil",
    "llvm.copysign",
    "llvm.ctlz",
    "llvm.ctpop",
    "llvm.cttz",
    "llvm.fabs",
    "llvm.floor",
    "llvm.fma",
    "llvm.fmuladd",
    "llvm.fshl",
    "llvm.fshr",
    "llvm.lifetime.end",
    "llvm.lifetime.start",
    "llvm.maximum",
    "llvm.maxnum",
    "llvm.memcpy",
    "llvm.memmove",
    "llvm.memset",
    "llvm.minimum",
    "llvm.minnum",
    "llvm.sadd.sat",
    "llvm.smax",
    "llvm.smin",
    "llvm.sqrt",
    "llvm.ssub.sat",
    "llvm.trunc",
    "llvm.uadd.sat",
    "llvm.umax",
    "llvm.umin",
    "llvm.umul.with.overflow",
    "llvm.usub.sat",
    "llvm.uadd.with.overflow",
];

pub(super) fn legalize(rewrite: &Rewrite) -> Result<()> {
    let module = rewrite.module();
    let builder = Builder::new(module);
    for instruction in module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        instruction.drop_new_flags();
        if !instruction.is(Opcode::LLVMCall) {
            continue;
        }
        let Some(name) = instruction.callee().and_then(|callee| callee.intrinsic_name()) else { continue };
        match name.as_str() {
            "llvm.ucmp" | "llvm.scmp" => {
                builder.before(instruction);
                let compared = compare(&builder, instruction, name == "llvm.scmp");
                instruction.replace_all_uses_with(compared);
                rewrite.erase(instruction);
            }
            name if INTRINSICS.contains(&name) => {}
            // A pass made it that this version of LLVM has changed.
            name => return Err(Error::Internal(format!("'{name}' cannot be in a library"))),
        }
    }
    Ok(())
}

/// -1, 0 or 1, as the first argument is less, equal or greater.
fn compare<'m>(builder: &Builder<'m>, call: Value<'m>, is_signed: bool) -> Value<'m> {
    let (less, greater) = match is_signed {
        true => (IntPredicate::LLVMIntSLT, IntPredicate::LLVMIntSGT),
        false => (IntPredicate::LLVMIntULT, IntPredicate::LLVMIntUGT),
    };
    let [left, right] = call.arguments()[..] else { unreachable!("LLVM's function has two arguments") };
    let is_greater = builder.zext(builder.icmp(greater, left, right), call.ty());
    let minus_one = builder.sext(builder.icmp(less, left, right), call.ty());
    builder.or(is_greater, minus_one)
}
