//! `simd_sum` and the like: one value out of all active lanes; `quad_sum`: one out of each four.

use super::Call;
use super::name::Reduction;
use super::number::Number;
use crate::ir::{Builder, Type, Value};
use abi::LANES;

/// The reduction of one component over the active lanes.
pub(super) fn scalar<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    number: Number,
    reduction: Reduction,
    data: Value<'m>,
) -> Value<'m> {
    let opened = active_or_neutral(b, call, number, reduction, number.open(b, data));
    let reduced = match integer_intrinsic(number, reduction) {
        Some(name) => b.intrinsic(name, &[opened.ty()], &[opened]),
        None => halve(b, number, reduction, opened, call.fast_math),
    };
    number.close(b, reduced, data.ty().scalar())
}

/// The reduction of one component over the active lanes of each quad, in all of its lanes.
pub(super) fn quads<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    number: Number,
    reduction: Reduction,
    data: Value<'m>,
) -> Value<'m> {
    let mut opened = active_or_neutral(b, call, number, reduction, number.open(b, data));
    for distance in [1, 2] {
        let pattern: Vec<i32> = (0..LANES as i32).map(|lane| lane ^ distance).collect();
        let other = b.shuffle(opened, opened.ty().poison(), &pattern);
        opened = number.combine(b, reduction, opened, other, call.fast_math);
    }
    number.close(b, opened, data.ty())
}

/// The neutral element where a lane is not active.
pub(super) fn active_or_neutral<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    number: Number,
    reduction: Reduction,
    data: Value<'m>,
) -> Value<'m> {
    b.select(call.mask, data, number.neutral(reduction, data.ty()))
}

/// LLVM knows the best instructions for each type.
fn integer_intrinsic(number: Number, reduction: Reduction) -> Option<&'static str> {
    let is_signed = match number {
        Number::Float | Number::BFloat => return None,
        Number::Signed => true,
        Number::Unsigned => false,
    };
    Some(match reduction {
        Reduction::Sum => "llvm.vector.reduce.add",
        Reduction::Product => "llvm.vector.reduce.mul",
        Reduction::And => "llvm.vector.reduce.and",
        Reduction::Or => "llvm.vector.reduce.or",
        Reduction::Xor => "llvm.vector.reduce.xor",
        Reduction::Min if is_signed => "llvm.vector.reduce.smin",
        Reduction::Max if is_signed => "llvm.vector.reduce.smax",
        Reduction::Min => "llvm.vector.reduce.umin",
        Reduction::Max => "llvm.vector.reduce.umax",
    })
}

/// The upper half onto the lower half until one is left. LLVM's intrinsic adds in this order only when it may choose
/// any; this one is always the same, and in pairs: accurate, too.
fn halve<'m>(b: &Builder<'m>, number: Number, reduction: Reduction, data: Value<'m>, flags: u32) -> Value<'m> {
    let mut vector = data;
    loop {
        let length = vector.ty().length() as i32;
        if length == 1 {
            return b.extract(vector, Type::int(b.context(), 64).constant(0));
        }
        let part = |from: i32| {
            let pattern: Vec<i32> = (from..from + length / 2).collect();
            b.shuffle(vector, vector.ty().poison(), &pattern)
        };
        vector = number.combine(b, reduction, part(0), part(length / 2), flags);
    }
}
