//! Integer division. A CPU traps where a GPU gives any number, and lanes that are switched off divide too: a divisor
//! that would trap is replaced first. Vectors of up to 32 bits divide as floating-point numbers, which is exact and has
//! instructions.

use super::lanes::Mask;
use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};

/// Emits a division or remainder of scalars or lanes.
pub(super) fn emit<'m>(
    b: &Builder<'m>,
    opcode: Opcode,
    dividend: Value<'m>,
    divisor: Value<'m>,
    mask: Option<Mask<'m>>,
) -> Value<'m> {
    let ty = dividend.ty();
    if is_harmless(divisor) {
        return b.binary(opcode, dividend, divisor);
    }
    let signed = matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem);
    let divisor = harmless(b, dividend, divisor, mask.filter(|_| ty.is_vector()), signed);
    if !ty.is_vector() || ty.element().int_bits() > 32 {
        return b.binary(opcode, dividend, divisor);
    }
    let quotient = quotient(b, dividend, divisor, signed);
    match opcode {
        Opcode::LLVMUDiv | Opcode::LLVMSDiv => quotient,
        _ => b.sub(dividend, b.mul(quotient, divisor)),
    }
}

/// True if a divisor is a constant that neither traps nor overflows.
fn is_harmless(divisor: Value) -> bool {
    let length = if divisor.ty().is_vector() { divisor.ty().length() } else { 0 };
    let fine = |value: Option<Value>| value.and_then(Value::as_int).is_some_and(|value| value != 0 && value != -1);
    if length == 0 {
        fine(Some(divisor))
    } else {
        (0..length as u32).all(|i| fine(divisor.constant_element(i as usize)))
    }
}

fn harmless<'m>(
    b: &Builder<'m>,
    dividend: Value<'m>,
    divisor: Value<'m>,
    mask: Option<Mask<'m>>,
    signed: bool,
) -> Value<'m> {
    let ty = divisor.ty();
    let one = ty.constant(1);
    let divisor = mask.map_or(divisor, |mask| b.select(mask, divisor, one));
    let is = |value: Value<'m>, what: i64| b.icmp(IntPredicate::LLVMIntEQ, value, ty.constant(what));
    let mut bad = is(divisor, 0);
    if signed {
        let lowest = i64::MIN >> (64 - ty.scalar().int_bits());
        bad = b.or(bad, b.and(is(divisor, -1), is(dividend, lowest)));
    }
    b.select(bad, one, divisor)
}

/// The quotient of two whole numbers is at least `1 / divisor` away from the next whole number, which is more than the
/// rounding of a floating-point number with twice as many bits.
fn quotient<'m>(b: &Builder<'m>, dividend: Value<'m>, divisor: Value<'m>, signed: bool) -> Value<'m> {
    let ty = dividend.ty();
    let context = b.context();
    let real = if ty.element().int_bits() <= 8 { Type::float(context) } else { Type::double(context) };
    let real = real.vector(ty.length());
    let (to_real, to_int) =
        if signed { (Opcode::LLVMSIToFP, Opcode::LLVMFPToSI) } else { (Opcode::LLVMUIToFP, Opcode::LLVMFPToUI) };
    let (dividend, divisor) = (b.cast(to_real, dividend, real), b.cast(to_real, divisor, real));
    b.cast(to_int, b.binary(Opcode::LLVMFDiv, dividend, divisor), ty)
}
