//! `simd_sum` and kin: one value out of all active lanes; prefix sums: one out of the active lanes before.

use super::{Call, quad_start};
use crate::ir::{Block, Builder, IntPredicate, Type, Value};
use crate::simt::lanes::{Active, Movement, from_lane, from_partner, lane, moved};
use crate::thread::name::{Group, Prefix, Reduction};
use crate::thread::number::Number;

/// The reduction of one component.
pub(super) fn reduce<'m>(
    b: &Builder<'m>,
    call: &Call<'m>,
    group: Group,
    reduction: Reduction,
    data: Value<'m>,
) -> Value<'m> {
    let number = call.name.number;
    let opened = number.open(b, data);
    let reduced = match group {
        _ if call.active.is_full => butterfly(b, call, group, reduction, opened),
        Group::Simd => {
            let start = number.neutral(reduction, opened.ty());
            let whole = |b: &Builder<'m>, data| butterfly(b, call, group, reduction, data);
            let step = |b: &Builder<'m>, all, next, _| number.combine(b, reduction, all, next, call.flags);
            each_active_lane(b, call.active, opened, start, whole, step)
        }
        // All active lanes must take the same steps, though their quads have different lanes.
        Group::Quad => (0..4).fold(number.neutral(reduction, opened.ty()), |all, place| {
            let from = b.or(quad_start(b), Type::int(b.context(), 32).constant(place));
            let next = from_lane(b, call.active, opened, from);
            let sum = number.combine(b, reduction, all, next, call.flags);
            b.select(call.active.has(b, from), sum, all)
        }),
    };
    number.close(b, reduced, data.ty())
}

/// The reduction of all lanes: in each step a lane adds the value of a lane half as far away.
fn butterfly<'m>(
    b: &Builder<'m>,
    call: &Call<'m>,
    group: Group,
    reduction: Reduction,
    data: Value<'m>,
) -> Value<'m> {
    let distances: &[i64] = if group == Group::Simd { &[16, 8, 4, 2, 1] } else { &[1, 2] };
    distances.iter().fold(data, |all, &distance| {
        let other = from_partner(b, Active::full(b), all, distance);
        call.name.number.combine(b, reduction, all, other, call.flags)
    })
}

/// The reduction of the lanes before this one, and of this one, too, when it is inclusive.
pub(super) fn prefix<'m>(
    b: &Builder<'m>,
    call: &Call<'m>,
    group: Group,
    reduction: Reduction,
    kind: Prefix,
    data: Value<'m>,
) -> Value<'m> {
    let number = call.name.number;
    let opened = number.open(b, data);
    let neutral = number.neutral(reduction, opened.ty());
    let sums = if call.active.is_full {
        scan(b, call, group, reduction, kind, opened)
    } else {
        let predicate = match kind {
            Prefix::Inclusive => IntPredicate::LLVMIntULE,
            Prefix::Exclusive => IntPredicate::LLVMIntULT,
        };
        let whole = |b: &Builder<'m>, data| scan(b, call, group, reduction, kind, data);
        each_active_lane(b, call.active, opened, neutral, whole, |b, all, next, from| {
            let this = lane(b);
            let start = if group == Group::Quad { quad_start(b) } else { this.ty().zero() };
            let sum = number.combine(b, reduction, all, next, call.flags);
            let before = b.icmp(predicate, from, this);
            let inside = b.icmp(IntPredicate::LLVMIntUGE, from, start);
            b.select(b.and(before, inside), sum, all)
        })
    };
    number.close(b, sums, data.ty())
}

/// A prefix of all lanes. In each step a lane adds the value of the lane twice as far before it.
fn scan<'m>(
    b: &Builder<'m>,
    call: &Call<'m>,
    group: Group,
    reduction: Reduction,
    kind: Prefix,
    data: Value<'m>,
) -> Value<'m> {
    let number: Number = call.name.number;
    let int = Type::int(b.context(), 32);
    let neutral = number.neutral(reduction, data.ty());
    let place = b.and(lane(b), int.constant(group.size() as i64 - 1));
    let before = |sums: Value<'m>, distance: i64| {
        let distance = int.constant(distance);
        let other = moved(b, Active::full(b), Movement::Up, sums, distance);
        b.select(b.icmp(IntPredicate::LLVMIntUGE, place, distance), other, neutral)
    };
    let mut sums = data;
    let mut distance = 1;
    while distance < group.size() as i64 {
        sums = number.combine(b, reduction, before(sums, distance), sums, call.flags);
        distance *= 2;
    }
    if kind == Prefix::Exclusive { before(sums, 1) } else { sums }
}

/// A loop over the active lanes, in a function of its own, which is inlined: `step` gets the result so far, the lane's
/// value and its number. If all lanes turn out to be active, `whole` computes the result.
fn each_active_lane<'m>(
    b: &Builder<'m>,
    active: Active<'m>,
    data: Value<'m>,
    start: Value<'m>,
    whole: impl Fn(&Builder<'m>, Value<'m>) -> Value<'m>,
    step: impl Fn(&Builder<'m>, Value<'m>, Value<'m>, Value<'m>) -> Value<'m>,
) -> Value<'m> {
    let int = active.mask.ty();
    let function = b.module.add_function("simt.lanes", data.ty().function(&[data.ty(), int]));
    function.make_internal();
    function.make_inlined();
    function.add_attribute("convergent");
    let [value, mask] = function.parameters()[..] else { unreachable!("two are declared") };
    let [entry, all, turn, end] = ["entry", "all", "lane", "end"].map(|name| Block::append(function, name));
    let inner = Builder::new(b.module);
    inner.at_end(entry);
    inner.branch_if(inner.icmp(IntPredicate::LLVMIntEQ, mask, Active::full(b).mask), all, turn);

    inner.at_end(all);
    inner.ret_value(whole(&inner, value));

    // At least this lane is active.
    inner.at_end(turn);
    let (left, so_far) = (inner.phi(int), inner.phi(data.ty()));
    let from = inner.intrinsic("llvm.cttz", &[int], &[left, Type::int(b.context(), 1).constant(1)]);
    let next = from_lane(&inner, Active { mask, is_full: false }, value, from);
    let result = step(&inner, so_far, next, from);
    let rest = inner.and(left, inner.sub(left, int.constant(1)));
    inner.branch_if(inner.icmp(IntPredicate::LLVMIntNE, rest, int.zero()), turn, end);
    for (phi, first, next) in [(left, mask, rest), (so_far, start, result)] {
        inner.add_incoming(phi, first, entry);
        inner.add_incoming(phi, next, turn);
    }

    inner.at_end(end);
    inner.ret_value(result);
    b.call(function, &[data, active.mask])
}
