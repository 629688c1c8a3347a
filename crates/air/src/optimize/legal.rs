//! Code that LLVM 14 does not know is taken away: Apple's drivers are of its age. New flags go; new intrinsics become
//! plain instructions. So do vectors of more than four elements, which Metal does not have.

use crate::ir::{Block, Builder, IntPredicate, Opcode, Rewrite, Type, Value};
use crate::lower::{Error, Result};

/// LLVM's own functions that may be in a library. LLVM 14 knows them all.
pub(super) const INTRINSICS: [&str; 45] = [
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
    "llvm.rint",
    "llvm.round",
    "llvm.sadd.sat",
    "llvm.sadd.with.overflow",
    "llvm.smax",
    "llvm.smin",
    "llvm.smul.with.overflow",
    "llvm.sqrt",
    "llvm.sshl.sat",
    "llvm.ssub.sat",
    "llvm.ssub.with.overflow",
    "llvm.trap",
    "llvm.trunc",
    "llvm.uadd.sat",
    "llvm.umax",
    "llvm.umin",
    "llvm.umul.with.overflow",
    "llvm.ushl.sat",
    "llvm.usub.sat",
    "llvm.usub.with.overflow",
    "llvm.uadd.with.overflow",
];

pub(super) fn legalize(rewrite: &Rewrite) -> Result<()> {
    let module = rewrite.module();
    let builder = Builder::new(module);
    for instruction in module.functions().into_iter().flat_map(Value::blocks).flat_map(Block::instructions) {
        instruction.drop_new_flags();
        if let Some(part) = part_of_element(&builder, instruction) {
            instruction.replace_all_uses_with(part);
            rewrite.erase(instruction);
            continue;
        }
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
            "llvm.is.fpclass" => {
                builder.before(instruction);
                let is_in_class = class_test(&builder, instruction);
                instruction.replace_all_uses_with(is_in_class);
                rewrite.erase(instruction);
            }
            name if INTRINSICS.contains(&name) => {}
            // A pass made it that this version of LLVM has changed.
            name => return Err(Error::Internal(format!("'{name}' cannot be in a library"))),
        }
    }
    Ok(())
}

/// Element 2 of three `i32` taken as six `i16` is the low half of element 1: LLVM takes the first for simpler.
fn part_of_element<'m>(builder: &Builder<'m>, extract: Value<'m>) -> Option<Value<'m>> {
    if !extract.is(Opcode::LLVMExtractElement) || !extract.operand(0).is(Opcode::LLVMBitCast) {
        return None;
    }
    let (parts, whole) = (extract.operand(0).ty(), extract.operand(0).operand(0));
    if parts.length() <= 4 || parts.length() == 64 || !whole.ty().is_vector() {
        return None;
    }
    let (index, ratio) = (extract.operand(1).as_int()?, parts.length() / whole.ty().length().max(1));
    let is_whole = whole.ty().scalar().is_int() && extract.ty().is_int() && ratio > 1;
    let index = usize::try_from(index).ok().filter(|index| is_whole && *index < parts.length())?;
    builder.before(extract);
    let number = Type::int(extract.ty().context(), 64);
    let element = builder.extract(whole, number.constant((index / ratio) as i64));
    let by = element.ty().constant(((index % ratio) as u32 * extract.ty().int_bits()).into());
    let shifted = match index % ratio {
        0 => element,
        _ => builder.binary(Opcode::LLVMLShr, element, by),
    };
    Some(builder.trunc(shifted, extract.ty()))
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

/// True if a number is of one of the classes in a mask of LLVM's. The bits of each class, taken as an integer, are a
/// range, and classes next to each other are one.
fn class_test<'m>(builder: &Builder<'m>, call: Value<'m>) -> Value<'m> {
    let [number, mask] = call.arguments()[..] else { unreachable!("LLVM's function has two arguments") };
    let mask = mask.as_int().expect("LLVM's mask is a constant");
    let scalar = number.ty().scalar();
    let (width, mantissa) = match () {
        () if scalar.is_half() => (16, 10),
        () if scalar.is_bfloat() => (16, 7),
        () => (32, 23),
    };
    let integer = Type::int(scalar.context(), width);
    let integer = if number.ty().is_vector() { integer.vector(number.ty().length()) } else { integer };
    let bits = builder.bitcast(number, integer);
    let sign = 1_i64 << (width - 1);
    let infinity = sign - (1 << mantissa);
    let quiet = infinity + (1 << (mantissa - 1));
    // Zero, subnormal, normal, infinity, signaling and quiet NaN: the first number of each, and its bits in the mask,
    // of positive and of negative numbers.
    let classes = [
        (0, 0x40, 0x20),
        (1, 0x80, 0x10),
        (1 << mantissa, 0x100, 0x8),
        (infinity, 0x200, 0x4),
        (infinity + 1, 0x1, 0x1),
        (quiet, 0x2, 0x2),
    ];
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for offset in [0, sign] {
        for (index, &(first, positive, negative)) in classes.iter().enumerate() {
            let bit = if offset == 0 { positive } else { negative };
            if mask & bit == 0 {
                continue;
            }
            let end = offset + classes.get(index + 1).map_or(sign, |next| next.0);
            match ranges.last_mut() {
                Some(last) if last.1 == offset + first => last.1 = end,
                _ => ranges.push((offset + first, end)),
            }
        }
    }
    // LLVM takes the numbers of a type as signed.
    let constant = |bits: i64| integer.constant((bits << (64 - width)) >> (64 - width));
    let tests = ranges.into_iter().map(|(first, end)| {
        let from_first = builder.binary(Opcode::LLVMSub, bits, constant(first));
        builder.icmp(IntPredicate::LLVMIntULT, from_first, constant(end - first))
    });
    let none = || builder.icmp(IntPredicate::LLVMIntNE, bits, bits);
    tests.reduce(|one, other| builder.or(one, other)).unwrap_or_else(none)
}
