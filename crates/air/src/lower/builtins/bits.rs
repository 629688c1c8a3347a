//! <metal_math> and <metal_relational>: functions that look at the bits of a number. Apple's compiler calls functions
//! of a library for some of them (`frexp`, `ilogb`, `nextafter`), and lets others vanish when it computes fast. Here
//! they are integer arithmetic, the same in either mode; only `modf` truncates and subtracts as the mode says.

use super::call::{Call, Effects};
use super::shape::{Scalar, Shape};
use super::{Attempt, Output, Result};
use inkwell::values::BasicValueEnum;
use inkwell::{FloatPredicate, IntPredicate};
use msl::types::{FloatKind, IntKind};

/// The bits of a floating-point type.
#[derive(Clone, Copy)]
struct Format {
    shape: Shape,
    /// Unsigned integers of the same width.
    bits: Shape,
    /// The number of bits of the fraction.
    fraction: u32,
    /// The exponent of 1.
    bias: i64,
}

impl Format {
    fn of(shape: Shape) -> Format {
        let (fraction, bias) = match shape.scalar {
            Scalar::Float(FloatKind::Half) => (10, 15),
            Scalar::Float(FloatKind::BFloat) => (7, 127),
            _ => (23, 127),
        };
        Format { shape, bits: shape.as_bits(), fraction, bias }
    }

    fn sign(self) -> i64 {
        1 << (self.shape.bits() - 1)
    }

    /// All but the sign.
    fn magnitude(self) -> i64 {
        self.sign() - 1
    }

    fn fraction_mask(self) -> i64 {
        (1 << self.fraction) - 1
    }

    fn infinity(self) -> i64 {
        self.magnitude() & !self.fraction_mask()
    }

    /// The smallest normal number.
    fn normal(self) -> i64 {
        1 << self.fraction
    }
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// Functions that look at bits.
    pub(super) fn bits(&self) -> Attempt<'ctx> {
        let Some(shape) = self.float_shape() else { return Ok(None) };
        let format = Format::of(shape);
        let value = match self.name {
            "isnan" => self.is_nan(format, self.arg(0)?)?,
            "isinf" => self.compare_magnitude(format, IntPredicate::EQ)?,
            "isfinite" => self.compare_magnitude(format, IntPredicate::ULT)?,
            "isnormal" => {
                let magnitude = self.magnitude(format, self.arg(0)?)?;
                let offset = self.sub(magnitude, self.int(format.bits, format.normal())?)?;
                let range = self.int(format.bits, format.infinity() - format.normal())?;
                self.icmp(IntPredicate::ULT, offset, range)?
            }
            "isordered" | "isunordered" => {
                let either = self.or(self.is_nan(format, self.arg(0)?)?, self.is_nan(format, self.arg(1)?)?)?;
                match self.name {
                    "isordered" => self.xor(either, self.int(shape.with(Scalar::Bool), 1)?)?,
                    _ => either,
                }
            }
            "signbit" => {
                let bits = self.bitcast(self.arg(0)?, self.ty(format.bits))?;
                self.icmp(IntPredicate::SLT, bits, self.int(format.bits, 0)?)?
            }
            "copysign" => self.copysign(format, self.arg(0)?, self.arg(1)?)?,
            "modf" => self.modf(format)?,
            "ilogb" => self.ilogb(format)?,
            "frexp" => self.frexp(format)?,
            "nextafter" => self.nextafter(format)?,
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }

    fn magnitude(&self, format: Format, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let bits = self.bitcast(value, self.ty(format.bits))?;
        self.and(bits, self.int(format.bits, format.magnitude())?)
    }

    fn is_nan(&self, format: Format, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let magnitude = self.magnitude(format, value)?;
        self.icmp(IntPredicate::UGT, magnitude, self.int(format.bits, format.infinity())?)
    }

    /// Compares the magnitude of the argument with infinity.
    fn compare_magnitude(&self, format: Format, predicate: IntPredicate) -> Result<BasicValueEnum<'ctx>> {
        let magnitude = self.magnitude(format, self.arg(0)?)?;
        self.icmp(predicate, magnitude, self.int(format.bits, format.infinity())?)
    }

    fn copysign(
        &self,
        format: Format,
        value: BasicValueEnum<'ctx>,
        sign: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let magnitude = self.magnitude(format, value)?;
        let sign = self.bitcast(sign, self.ty(format.bits))?;
        let sign = self.and(sign, self.int(format.bits, format.sign())?)?;
        self.bitcast(self.or(magnitude, sign)?, self.ty(format.shape))
    }

    /// The fraction; the whole part goes to memory. Both have the sign of the argument.
    fn modf(&self, format: Format) -> Result<BasicValueEnum<'ctx>> {
        let x = self.arg(0)?;
        let whole = self.float_intrinsic("trunc", format.shape, &[x])?;
        self.store_through(1, whole)?;
        let fraction = self.fsub(x, whole)?;
        let is_infinite = self.compare_magnitude(format, IntPredicate::EQ)?;
        let fraction = self.select(is_infinite, self.float(format.shape, 0.0)?, fraction)?;
        self.copysign(format, fraction, x)
    }

    /// The exponent of a finite number that is not zero, as `int`, and the number of places that its bits have to move
    /// until it looks normal: more than none for a denormal number.
    fn exponent(
        &self,
        format: Format,
        magnitude: BasicValueEnum<'ctx>,
    ) -> Result<(BasicValueEnum<'ctx>, BasicValueEnum<'ctx>)> {
        let ints = Self::ints(format.shape);
        let constant = |value: i64| self.int(ints, value);
        let magnitude = self.resize(magnitude, format.bits.bits(), ints)?;
        let field = self.shr(magnitude, constant(i64::from(format.fraction))?)?;
        let zeros = self.count_zeros("clz", ints, magnitude)?;
        let places = self.sub(zeros, constant(i64::from(31 - format.fraction))?)?;
        let is_denormal = self.icmp(IntPredicate::EQ, field, constant(0)?)?;
        let normal = self.sub(field, constant(format.bias)?)?;
        let denormal = self.sub(constant(1 - format.bias)?, places)?;
        let exponent = self.select(is_denormal, denormal, normal)?;
        let places = self.select(is_denormal, places, constant(0)?)?;
        Ok((exponent, places))
    }

    /// The exponent; `FP_ILOGB0` is that of zero and NaN, `INT_MAX` that of infinity.
    fn ilogb(&self, format: Format) -> Result<BasicValueEnum<'ctx>> {
        let ints = Self::ints(format.shape);
        let magnitude = self.magnitude(format, self.arg(0)?)?;
        let (exponent, _) = self.exponent(format, magnitude)?;
        let is_zero = self.icmp(IntPredicate::EQ, magnitude, self.int(format.bits, 0)?)?;
        let none = self.or(is_zero, self.is_nan(format, self.arg(0)?)?)?;
        let is_infinite = self.compare_magnitude(format, IntPredicate::EQ)?;
        let exponent = self.select(is_infinite, self.int(ints, i64::from(i32::MAX))?, exponent)?;
        self.select(none, self.int(ints, i64::from(i32::MIN))?, exponent)
    }

    /// The mantissa in [0.5, 1); the exponent goes to memory. Zero, infinity and NaN are their own mantissa.
    fn frexp(&self, format: Format) -> Result<BasicValueEnum<'ctx>> {
        let ints = Self::ints(format.shape);
        let x = self.arg(0)?;
        let magnitude = self.magnitude(format, x)?;
        let (exponent, places) = self.exponent(format, magnitude)?;
        let offset = self.sub(magnitude, self.int(format.bits, 1)?)?;
        let special = self.icmp(IntPredicate::UGE, offset, self.int(format.bits, format.infinity() - 1)?)?;
        let exponent = self.add(exponent, self.int(ints, 1)?)?;
        let exponent = self.select(special, self.int(ints, 0)?, exponent)?;
        self.store_through(1, exponent)?;

        let places = self.resize(places, 32, format.bits)?;
        let fraction = self.and(self.shl(magnitude, places)?, self.int(format.bits, format.fraction_mask())?)?;
        let half = self.int(format.bits, (format.bias - 1) << format.fraction)?;
        let mantissa = self.bitcast(self.or(fraction, half)?, self.ty(format.shape))?;
        let mantissa = self.copysign(format, mantissa, x)?;
        self.select(special, x, mantissa)
    }

    /// The next number after `x` in the direction of `y`.
    fn nextafter(&self, format: Format) -> Result<BasicValueEnum<'ctx>> {
        let (x, y) = (self.arg(0)?, self.arg(1)?);
        let zero = self.int(format.bits, 0)?;
        let one = self.int(format.bits, 1)?;
        let bits = self.bitcast(x, self.ty(format.bits))?;
        let magnitude = self.magnitude(format, x)?;
        // Away from zero is one bit more, whatever the sign.
        let grows = self.fcmp(FloatPredicate::OLT, x, y)?;
        let is_negative = self.icmp(IntPredicate::SLT, bits, zero)?;
        let away = self.xor(grows, is_negative)?;
        let step = self.select(away, one, self.int(format.bits, -1)?)?;
        let stepped = self.add(bits, step)?;
        // From zero: the smallest number with the sign of y.
        let target = self.bitcast(y, self.ty(format.bits))?;
        let sign = self.and(target, self.int(format.bits, format.sign())?)?;
        let smallest = self.or(sign, one)?;
        let next = self.select(self.icmp(IntPredicate::EQ, magnitude, zero)?, smallest, stepped)?;
        let next = self.select(self.fcmp(FloatPredicate::OEQ, x, y)?, target, next)?;
        let quiet = self.int(format.bits, format.infinity() | format.normal() >> 1)?;
        let nan = self.or(self.is_nan(format, x)?, self.is_nan(format, y)?)?;
        self.bitcast(self.select(nan, quiet, next)?, self.ty(format.shape))
    }

    /// `air.clz` or `air.ctz`; zero has as many zeros as bits.
    pub(super) fn count_zeros(
        &self,
        name: &str,
        shape: Shape,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let name = format!("air.{name}.{}", shape.suffix());
        self.value_of(&name, self.ty(shape), &[value, self.i1(false).into()], Effects::None)
    }

    /// Unsigned integers of 8 bits with as many components: the form of `bool` in memory.
    pub(super) fn bytes(shape: Shape) -> Shape {
        shape.with(Scalar::Int(IntKind::UChar))
    }
}
