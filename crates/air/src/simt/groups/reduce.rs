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
        _ if call.active.is_full => {
            let distances: &[i64] = if group == Group::Simd { &[16, 8, 4, 2, 1] } else { &[1, 2] };
            distances.iter().fold(opened, |all, &distance| {
                number.combine(b, reduction, all, from_partner(b, call.active, all, distance), call.flags)
            })
        }
        Group::Simd => {
            let start = number.neutral(reduction, opened.ty());
            let step = |b: &Builder<'m>, all, next, _| number.combine(b, reduction, all, next, call.flags);
            each_active_lane(b, call.active, opened, start, step)
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
        each_active_lane(b, call.active, opened, neutral, |b, all, next, from| {
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
        let other = moved(b, call.active, Movement::Up, sums, distance);
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
/// value and its number.
fn each_active_lane<'m>(
    b: &Builder<'m>,
    active: Active<'m>,
    data: Value<'m>,
    start: Value<'m>,
    step: impl Fn(&Builder<'m>, Value<'m>, Value<'m>, Value<'m>) -> Value<'m>,
) -> Value<'m> {
    let int = active.mask.ty();
    let function = b.module.add_function("simt.lanes", data.ty().function(&[data.ty(), int]));
    function.make_internal();
    function.make_inlined();
    function.add_attribute("convergent");
    let [value, mask] = function.parameters()[..] else { unreachable!("two are declared") };
    let [entry, turn, end] = ["entry", "lane", "end"].map(|name| Block::append(function, name));
    let inner = Builder::new(b.module);
    inner.at_end(entry);
    inner.branch(turn);

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
