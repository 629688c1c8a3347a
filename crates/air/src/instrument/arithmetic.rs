//! Divisions and conversions that have no defined result, and operations that make a NaN or an infinity.

use super::{Checks, Instrumentation};
use crate::ir::{Builder, IntPredicate, Opcode, RealPredicate, Type, Value};
use abi::Operation;

pub(super) fn instruction<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>, checks: Checks) {
    match instruction.opcode() {
        Opcode::LLVMUDiv | Opcode::LLVMURem => division(pass, instruction, false),
        Opcode::LLVMSDiv | Opcode::LLVMSRem => division(pass, instruction, true),
        Opcode::LLVMFAdd
        | Opcode::LLVMFSub
        | Opcode::LLVMFMul
        | Opcode::LLVMFDiv
        | Opcode::LLVMFRem
        | Opcode::LLVMFPTrunc
            if checks.nan =>
        {
            result(pass, instruction, &instruction.operands());
        }
        _ => {}
    }
}

pub(super) fn call<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, name: &str, checks: Checks) {
    let parts: Vec<&str> = name.split('.').collect();
    match parts[..] {
        ["air", "convert", to @ ("s" | "u"), _, "f", _] => conversion(pass, call, to == "s"),
        ["air", function, ..] if checks.nan && !BETWEEN_LANES.iter().any(|start| function.starts_with(start)) => {
            result(pass, call, &call.arguments());
        }
        ["llvm", "fma" | "fmuladd", ..] if checks.nan => result(pass, call, &call.arguments()),
        _ => {}
    }
}

/// The start of names of functions whose result depends on other lanes or on memory.
const BETWEEN_LANES: [&str; 4] = ["simd", "quad", "atomic", "get_"];

/// A number must fit the integer type that it is converted to.
fn conversion<'m>(pass: &mut Instrumentation<'m>, call: Value<'m>, is_signed: bool) {
    let [number] = call.arguments()[..] else { return };
    let (from, to) = (number.ty().scalar(), call.ty().scalar());
    if !(to.is_int() && has_bits(from)) {
        return;
    }
    pass.b.before(call);
    let bits = to.int_bits() as i32;
    let (least, most) =
        if is_signed { (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)) } else { (0.0, 2f64.powi(bits)) };
    let double = Type::double(pass.module.context());
    let site = pass.place(call, Operation::Convert);
    for number in elements(&pass.b, number) {
        let number = pass.b.cast(Opcode::LLVMFPExt, number, double);
        // Fractions are dropped. Both comparisons are false for a NaN.
        let above = pass.b.fcmp(RealPredicate::LLVMRealOGT, number, double.real(least - 1.0));
        let not_below = pass.b.fcmp(RealPredicate::LLVMRealOGE, number, double.real(least));
        let above = if least - 1.0 == least { not_below } else { above };
        let below = pass.b.fcmp(RealPredicate::LLVMRealOLT, number, double.real(most));
        let value = pass.b.bitcast(number, pass.int(64));
        pass.check(pass.b.and(above, below), site, value);
    }
}

/// True for types whose bits can be looked at: bfloat is expanded later.
fn has_bits(ty: Type) -> bool {
    ty.is_float_like() && !ty.is_bfloat()
}

/// A result that is a NaN needs an operand that is a NaN, and an infinity one that is not finite: infinities make NaNs.
fn result<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>, operands: &[Value<'m>]) {
    if !has_bits(instruction.ty().scalar()) || !operands.iter().all(|operand| has_bits(operand.ty().scalar())) {
        return;
    }
    let following = instruction.block().instructions().into_iter().skip_while(|other| *other != instruction).nth(1);
    let Some(next) = following else { return };
    // With these flags a NaN or an infinity may be anything, and the check always true.
    const NO_NANS: u32 = 1 << 1;
    const NO_INFINITIES: u32 = 1 << 2;
    if let Some(flags) = instruction.fast_math() {
        instruction.set_fast_math(flags & !(NO_NANS | NO_INFINITIES));
    }
    pass.b.before(next);
    let site = pass.place(instruction, Operation::Float);
    let count = if instruction.ty().is_vector() { instruction.ty().length() } else { 1 };
    let results = elements(&pass.b, instruction);
    let operands: Vec<Vec<Value<'m>>> = operands.iter().map(|operand| elements(&pass.b, *operand)).collect();
    let double = Type::double(pass.module.context());
    for (index, number) in results.into_iter().enumerate() {
        let own =
            |elements: &Vec<Value<'m>>| elements.get(if elements.len() == count { index } else { 0 }).copied();
        let own: Vec<Value<'m>> = operands.iter().filter_map(own).collect();
        let all = |is: fn(&Instrumentation<'m>, Value<'m>) -> Value<'m>| {
            own.iter().map(|operand| is(pass, *operand)).reduce(|all, one| pass.b.and(all, one))
        };
        let (Some(all_numbers), Some(all_finite)) = (all(is_number), all(is_finite)) else { continue };
        let holds_as_number = pass.b.or(is_number(pass, number), pass.b.not(all_numbers));
        let holds_as_finite = pass.b.or(is_finite(pass, number), pass.b.not(all_finite));
        let holds = pass.b.and(holds_as_number, holds_as_finite);
        let is_double = number.ty() == double;
        let wide = if is_double { number } else { pass.b.cast(Opcode::LLVMFPExt, number, double) };
        let value = pass.b.bitcast(wide, pass.int(64));
        pass.check(holds, site, value);
    }
}

/// True if a number is neither a NaN nor an infinity.
fn is_finite<'m>(pass: &Instrumentation<'m>, number: Value<'m>) -> Value<'m> {
    let (magnitude, infinity) = magnitude(pass, number);
    pass.b.icmp(IntPredicate::LLVMIntULT, magnitude, infinity)
}

/// True if a number is no NaN.
fn is_number<'m>(pass: &Instrumentation<'m>, number: Value<'m>) -> Value<'m> {
    let (magnitude, infinity) = magnitude(pass, number);
    pass.b.icmp(IntPredicate::LLVMIntULE, magnitude, infinity)
}

/// The bits of a number without its sign, and those of infinity: NaNs have larger ones.
fn magnitude<'m>(pass: &Instrumentation<'m>, number: Value<'m>) -> (Value<'m>, Value<'m>) {
    let ty = number.ty();
    let (bits, infinity) = if ty.is_half() {
        (16, 0x7c00)
    } else if ty == Type::double(pass.module.context()) {
        (64, 0x7ff0_0000_0000_0000)
    } else {
        (32, 0x7f80_0000)
    };
    let int = pass.int(bits);
    let without_sign = int.constant(i64::MAX >> (64 - bits));
    (pass.b.and(pass.b.bitcast(number, int), without_sign), int.constant(infinity))
}

/// Each element of a value, with its number; the value itself if it is no vector.
pub(super) fn elements<'m>(b: &Builder<'m>, value: Value<'m>) -> Vec<Value<'m>> {
    if !value.ty().is_vector() {
        return vec![value];
    }
    let index = |index: usize| Type::int(b.context(), 64).constant(index as i64);
    let element = |at: usize| value.constant_element(at).unwrap_or_else(|| b.extract(value, index(at)));
    (0..value.ty().length()).map(element).collect()
}

/// A number in another type, with its sign.
pub(super) fn widened<'m>(b: &Builder<'m>, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
    match value.ty().int_bits().cmp(&ty.int_bits()) {
        std::cmp::Ordering::Less => b.sext(value, ty),
        std::cmp::Ordering::Greater => b.trunc(value, ty),
        std::cmp::Ordering::Equal => value,
    }
}

fn division<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>, is_signed: bool) {
    pass.b.before(instruction);
    let wide = pass.int(64);
    let dividends = elements(&pass.b, instruction.operand(0));
    for (dividend, divisor) in dividends.into_iter().zip(elements(&pass.b, instruction.operand(1))) {
        if divisor.as_int().is_some_and(|number| number != 0 && number != -1) {
            continue;
        }
        let not_zero = pass.b.icmp(IntPredicate::LLVMIntNE, divisor, divisor.ty().zero());
        let site = pass.place(instruction, Operation::DivideByZero);
        let number = widened(&pass.b, dividend, wide);
        pass.check(not_zero, site, number);
        if is_signed {
            let bits = dividend.ty().int_bits();
            let least = dividend.ty().constant(if bits >= 64 { i64::MIN } else { -1 << (bits - 1) });
            let is_least = pass.b.icmp(IntPredicate::LLVMIntEQ, dividend, least);
            let is_minus_one = pass.b.icmp(IntPredicate::LLVMIntEQ, divisor, divisor.ty().all_ones());
            let fits = pass.b.not(pass.b.and(is_least, is_minus_one));
            let site = pass.place(instruction, Operation::DivideOverflow);
            pass.check(fits, site, number);
        }
    }
}
