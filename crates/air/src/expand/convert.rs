//! `air.convert`: from one type of number to another.
//!
//! A floating-point number that an integer cannot hold becomes the nearest one that it can, and NaN becomes 0, as on
//! Apple's GPUs. LLVM's plain instructions leave it open, and `llvm.fptosi.sat` has no good code on vectors. To `bool`,
//! everything but zero is true. An integer becomes a `half` or a `bfloat` by way of `float`.

use super::names::Class;
use super::{Error, Expansion, Result};
use crate::ir::{Opcode, RealPredicate, Type, Value};

impl<'m> Expansion<'m> {
    pub(super) fn convert(
        &mut self,
        arguments: &[Value<'m>],
        result: Type<'m>,
        to: Class,
        from: Class,
    ) -> Result<Option<Value<'m>>> {
        let &[value] = arguments else { return Ok(None) };
        let kinds_match = |class, ty: Type<'m>| match class {
            Class::Float => ty.scalar().is_float_like(),
            Class::Signed | Class::Unsigned => ty.scalar().is_int(),
        };
        let length = |ty: Type<'m>| if ty.is_vector() { ty.length() } else { 1 };
        if !kinds_match(to, result) || !kinds_match(from, value.ty()) || length(result) != length(value.ty()) {
            return Err(Error::Internal(format!("a conversion of {} to {}", value.ty().text(), result.text())));
        }
        Ok(Some(match (to, from) {
            (Class::Float, Class::Float) => self.narrowed(self.widened(value), result),
            (Class::Float, _) => {
                let is_signed = from == Class::Signed;
                let opcode = if is_signed { Opcode::LLVMSIToFP } else { Opcode::LLVMUIToFP };
                self.narrowed(self.b.cast(opcode, value, self.floats(result)), result)
            }
            (_, Class::Float) => self.to_integer(self.widened(value), result, to == Class::Signed),
            (_, from) => self.resized(from == Class::Signed, value, result),
        }))
    }

    /// A `float` as an integer, within its bounds.
    pub(super) fn to_integer(&self, value: Value<'m>, to: Type<'m>, is_signed: bool) -> Value<'m> {
        match to.scalar().int_bits() {
            1 => self.b.fcmp(RealPredicate::LLVMRealUNE, value, value.ty().zero()),
            // Both bounds are exact in `float`.
            bits @ 2..=16 => {
                let (lowest, highest) = bounds(bits, is_signed);
                let (lowest, highest) = (value.ty().real(lowest), value.ty().real(highest - 1.0));
                let raised = self.b.select(self.greater(value, lowest), value, lowest);
                let bounded = self.b.select(self.less(raised, highest), raised, highest);
                let integer = self.b.cast(Opcode::LLVMFPToSI, bounded, self.ints(to, 32));
                let integer = self.b.trunc(integer, to);
                // An unsigned one is 0 already, the lower bound.
                if is_signed { self.b.select(self.is_nan(value), to.zero(), integer) } else { integer }
            }
            bits => {
                let (lowest, highest) = bounds(bits, is_signed);
                let opcode = if is_signed { Opcode::LLVMFPToSI } else { Opcode::LLVMFPToUI };
                let is_above = self.at_least(value, value.ty().real(highest));
                let is_not_below = self.at_least(value, value.ty().real(lowest));
                // Out of bounds this is poison, and not chosen.
                let integer = self.b.cast(opcode, value, to);
                let integer = self.b.select(is_not_below, integer, lowest_integer(to, is_signed));
                let integer = self.b.select(is_above, highest_integer(to, is_signed), integer);
                if is_signed { self.b.select(self.is_nan(value), to.zero(), integer) } else { integer }
            }
        }
    }
}

/// The lowest number, and the one after the highest.
fn bounds(bits: u32, is_signed: bool) -> (f64, f64) {
    let power = |exponent: u32| 2f64.powi(exponent as i32);
    if is_signed { (-power(bits - 1), power(bits - 1)) } else { (0.0, power(bits)) }
}

/// The lowest number of an integer type.
pub(super) fn lowest_integer(ty: Type, is_signed: bool) -> Value {
    if is_signed { ty.constant(i64::MIN >> (64 - ty.scalar().int_bits())) } else { ty.zero() }
}

/// The highest number of an integer type.
pub(super) fn highest_integer(ty: Type, is_signed: bool) -> Value {
    if is_signed { ty.constant(i64::MAX >> (64 - ty.scalar().int_bits())) } else { ty.all_ones() }
}
