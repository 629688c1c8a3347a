//! `simd_prefix_inclusive_sum` and kin: each lane gets the sum, or product, of the active lanes up to it.

use super::Call;
use super::name::{Group, Name, Prefix, Reduction};
use super::reduce::active_or_neutral;
use crate::ir::{Builder, Value};
use abi::LANES;

/// One component. In each step a lane adds the value of the lane twice as far before it.
pub(super) fn prefix<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    name: &Name,
    reduction: Reduction,
    kind: Prefix,
    data: Value<'m>,
) -> Value<'m> {
    let number = name.number;
    let mut sums = active_or_neutral(b, call, number, reduction, number.open(b, data));
    let neutral = number.neutral(reduction, sums.ty());
    let mut distance = 1;
    while distance < name.group.size() {
        let before = moved_up(b, name.group, sums, neutral, distance);
        sums = number.combine(b, reduction, before, sums, call.fast_math);
        distance *= 2;
    }
    if kind == Prefix::Exclusive {
        // Lanes that are not active have the sum of those before them, too.
        sums = moved_up(b, name.group, sums, neutral, 1);
    }
    number.close(b, sums, data.ty())
}

/// The value of the lane `distance` before, in the same group, or `fill`.
fn moved_up<'m>(b: &Builder<'m>, group: Group, data: Value<'m>, fill: Value<'m>, distance: usize) -> Value<'m> {
    let pattern: Vec<i32> = (0..LANES)
        .map(|lane| if lane % group.size() >= distance { lane - distance } else { LANES + lane } as i32)
        .collect();
    b.shuffle(data, fill, &pattern)
}
