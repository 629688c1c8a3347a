//! Numbers of the types that a name tells apart, and arithmetic on them.
//!
//! Sums and the like of half and bfloat are computed in float and rounded once: more accurate than rounding each step,
//! and faster, as few CPUs compute in these types.

use super::name::Reduction;
use crate::ir::{Builder, IntPredicate, Opcode, RealPredicate, Type, Value};

const NO_NANS: u32 = 1 << 1;
const NO_INFINITIES: u32 = 1 << 2;

/// The class of a vector's elements; their type has their width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Float,
    /// The bits of a bfloat, as `i16`.
    BFloat,
    Signed,
    Unsigned,
}

impl Number {
    /// The end of a function's name: `f32`, `s.v2i32`, `bf16`.
    pub(crate) fn parse(suffix: &str) -> Number {
        let last = suffix.rsplit('.').next().unwrap_or_default();
        let last = last.trim_start_matches(|c: char| c == 'v' || c.is_ascii_digit());
        match last.chars().next() {
            Some('b') => Number::BFloat,
            Some('f') => Number::Float,
            _ if suffix.starts_with("s.") => Number::Signed,
            _ => Number::Unsigned,
        }
    }

    /// The values in the type that they are computed in.
    pub(crate) fn open<'m>(self, b: &Builder<'m>, value: Value<'m>) -> Value<'m> {
        let float = with_element(value.ty(), Type::float(b.context()));
        match self {
            Number::BFloat => {
                let int = with_element(value.ty(), Type::int(b.context(), 32));
                let bits = b.zext(value, int);
                b.bitcast(b.binary(Opcode::LLVMShl, bits, int.constant(16)), float)
            }
            Number::Float if value.ty().scalar().is_half() => b.cast(Opcode::LLVMFPExt, value, float),
            _ => value,
        }
    }

    /// Back to the type `to`, which `open` was given (with or without lanes).
    pub(crate) fn close<'m>(self, b: &Builder<'m>, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        match self {
            Number::BFloat => round_to_bfloat(b, value),
            Number::Float if to.scalar().is_half() => {
                b.cast(Opcode::LLVMFPTrunc, value, with_element(value.ty(), to.scalar()))
            }
            _ => value,
        }
    }

    /// The neutral element of a reduction, in the opened type `ty`.
    pub(crate) fn neutral(self, reduction: Reduction, ty: Type) -> Value {
        let is_float = matches!(self, Number::Float | Number::BFloat);
        let bits = if is_float { 0 } else { ty.scalar().int_bits() };
        let (smallest, largest) = match self {
            Number::Signed => (i64::MIN >> (64 - bits), !(i64::MIN >> (64 - bits))),
            _ => (0, -1),
        };
        match reduction {
            Reduction::Product if is_float => ty.real(1.0),
            Reduction::Min if is_float => ty.real(f64::INFINITY),
            Reduction::Max if is_float => ty.real(f64::NEG_INFINITY),
            Reduction::Sum | Reduction::Or | Reduction::Xor => ty.zero(),
            Reduction::Product => ty.constant(1),
            Reduction::Min => ty.constant(largest),
            Reduction::Max => ty.constant(smallest),
            Reduction::And => ty.all_ones(),
        }
    }

    /// One step of a reduction of opened values.
    pub(crate) fn combine<'m>(
        self,
        b: &Builder<'m>,
        reduction: Reduction,
        left: Value<'m>,
        right: Value<'m>,
        flags: u32,
    ) -> Value<'m> {
        if matches!(self, Number::Float | Number::BFloat) {
            return combine_floats(b, reduction, left, right, flags);
        }
        let extreme = |name: &str| b.intrinsic(name, &[left.ty()], &[left, right]);
        match reduction {
            Reduction::Sum => b.add(left, right),
            Reduction::Product => b.mul(left, right),
            Reduction::And => b.and(left, right),
            Reduction::Or => b.or(left, right),
            Reduction::Xor => b.xor(left, right),
            Reduction::Min if self == Number::Signed => extreme("llvm.smin"),
            Reduction::Max if self == Number::Signed => extreme("llvm.smax"),
            Reduction::Min => extreme("llvm.umin"),
            Reduction::Max => extreme("llvm.umax"),
        }
    }
}

/// Infinities and NaNs are common in real kernels, whatever they promise, and the neutral elements are infinities: no
/// code here relies on their absence.
fn combine_floats<'m>(
    b: &Builder<'m>,
    reduction: Reduction,
    left: Value<'m>,
    right: Value<'m>,
    flags: u32,
) -> Value<'m> {
    let without_nans = flags & NO_NANS != 0;
    let value = match reduction {
        Reduction::Product => b.binary(Opcode::LLVMFMul, left, right),
        // One instruction on x86, where `maxnum`, which ignores NaNs, takes three.
        Reduction::Max if without_nans => b.select(b.fcmp(RealPredicate::LLVMRealOGT, left, right), left, right),
        Reduction::Min if without_nans => b.select(b.fcmp(RealPredicate::LLVMRealOLT, left, right), left, right),
        Reduction::Max => b.intrinsic("llvm.maxnum", &[left.ty()], &[left, right]),
        Reduction::Min => b.intrinsic("llvm.minnum", &[left.ty()], &[left, right]),
        // Metal has no bitwise reductions of floating point.
        Reduction::Sum | Reduction::And | Reduction::Or | Reduction::Xor => b.binary(Opcode::LLVMFAdd, left, right),
    };
    value.set_fast_math(allowing_special_values(flags));
    value
}

/// Fast-math flags without the promise that there are no NaNs and infinities.
pub(crate) fn allowing_special_values(flags: u32) -> u32 {
    flags & !(NO_NANS | NO_INFINITIES)
}

/// `ty` with other elements.
pub(crate) fn with_element<'m>(ty: Type<'m>, element: Type<'m>) -> Type<'m> {
    if ty.is_vector() { element.vector(ty.length()) } else { element }
}

/// The bits of the nearest bfloat, ties to even; a NaN stays one.
fn round_to_bfloat<'m>(b: &Builder<'m>, value: Value<'m>) -> Value<'m> {
    let int = with_element(value.ty(), Type::int(b.context(), 32));
    let short = with_element(value.ty(), Type::int(b.context(), 16));
    let bits = b.bitcast(value, int);
    let upper = b.binary(Opcode::LLVMLShr, bits, int.constant(16));
    let odd = b.and(upper, int.constant(1));
    let rounded = b.add(bits, b.add(odd, int.constant(0x7fff)));
    let rounded = b.binary(Opcode::LLVMLShr, rounded, int.constant(16));
    let magnitude = b.and(bits, int.constant(0x7fff_ffff));
    let is_nan = b.icmp(IntPredicate::LLVMIntUGT, magnitude, int.constant(0x7f80_0000));
    let quiet = b.or(upper, int.constant(0x40));
    b.trunc(b.select(is_nan, quiet, rounded), short)
}
