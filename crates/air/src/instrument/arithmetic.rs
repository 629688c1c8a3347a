//! Divisions, shifts and conversions that have no defined result, and operations that make a NaN or an infinity.

use super::{Checks, Instrumentation};
use crate::ir::{IntPredicate, Opcode, Type, Value};
use abi::Operation;

pub(super) fn instruction<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>, _checks: Checks) {
    match instruction.opcode() {
        Opcode::LLVMUDiv | Opcode::LLVMURem => division(pass, instruction, false),
        Opcode::LLVMSDiv | Opcode::LLVMSRem => division(pass, instruction, true),
        Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => shift(pass, instruction),
        _ => {}
    }
}

pub(super) fn call<'m>(_pass: &mut Instrumentation<'m>, _call: Value<'m>, _name: &str, _checks: Checks) {}

/// Each element of a value, with its number; the value itself if it is no vector.
fn elements<'m>(pass: &Instrumentation<'m>, value: Value<'m>) -> Vec<Value<'m>> {
    if !value.ty().is_vector() {
        return vec![value];
    }
    let index = |index: usize| pass.int(64).constant(index as i64);
    let element = |at: usize| value.constant_element(at).unwrap_or_else(|| pass.b.extract(value, index(at)));
    (0..value.ty().length()).map(element).collect()
}

fn widened<'m>(pass: &Instrumentation<'m>, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
    match value.ty().int_bits().cmp(&ty.int_bits()) {
        std::cmp::Ordering::Less => pass.b.sext(value, ty),
        std::cmp::Ordering::Greater => pass.b.trunc(value, ty),
        std::cmp::Ordering::Equal => value,
    }
}

fn division<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>, is_signed: bool) {
    pass.b.before(instruction);
    let wide = pass.int(64);
    let dividends = elements(pass, instruction.operand(0));
    for (dividend, divisor) in dividends.into_iter().zip(elements(pass, instruction.operand(1))) {
        if divisor.as_int().is_some_and(|number| number != 0 && number != -1) {
            continue;
        }
        let not_zero = pass.b.icmp(IntPredicate::LLVMIntNE, divisor, divisor.ty().zero());
        let site = pass.place(instruction, Operation::DivideByZero);
        let number = widened(pass, dividend, wide);
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

fn shift<'m>(pass: &mut Instrumentation<'m>, instruction: Value<'m>) {
    pass.b.before(instruction);
    let wide = pass.int(64);
    for by in elements(pass, instruction.operand(1)) {
        let bits = i64::from(by.ty().int_bits());
        let holds = pass.b.icmp(IntPredicate::LLVMIntULT, by, by.ty().constant(bits));
        let site = pass.place(instruction, Operation::Shift);
        let number = widened(pass, by, wide);
        pass.check(holds, site, number);
    }
}
