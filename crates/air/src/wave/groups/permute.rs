//! Shuffles and broadcasts: values of other lanes.
//!
//! A shuffle is written as the number of the lane that each lane reads. Where these numbers are known (a constant
//! delta, the most common case by far), the arithmetic on them folds to a constant, and the shuffle is one of LLVM's.

use super::Call;
use super::lookup::look_up;
use super::name::{Group, Shuffle};
use super::vote::quad_bits;
use crate::ir::{Builder, IntPredicate, Type, Value};
use crate::wave::lanes::{first_active, lane_numbers, lanes_of, resize, splatted};
use abi::LANES;

/// The value of the lane that the second argument names; all active lanes name the same.
pub(super) fn broadcast<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Vec<Value<'m>>, String> {
    let lanes = call.scalar(1)?;
    let lane = splatted(lanes).unwrap_or_else(|| b.extract(lanes, first_active(b, call.mask)));
    // LLVM's extraction of an element past the end is poison.
    let lane = b.and(lane, lane.ty().constant(LANES as i64 - 1));
    Ok(call.argument(0)?.iter().map(|&part| b.extract(part, lane)).collect())
}

/// The value of the first active lane.
pub(super) fn broadcast_first<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Vec<Value<'m>>, String> {
    let first = first_active(b, call.mask);
    // There always is one, but LLVM does not know.
    let first = b.and(first, first.ty().constant(LANES as i64 - 1));
    Ok(call.argument(0)?.iter().map(|&part| b.extract(part, first)).collect())
}

/// The value of the first active lane of each quad.
pub(super) fn quad_broadcast_first<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Vec<Value<'m>>, String> {
    let index = lanes_of(Type::int(b.context(), 32));
    // One bit more, so that there is a first even in a quad where no lane is active.
    let active = b.or(quad_bits(b, call.mask, index), index.constant(8));
    let zero_is_defined = Type::int(b.context(), 1).constant(0);
    let first = b.intrinsic("llvm.cttz", &[index], &[active, zero_is_defined]);
    let source = source(b, Group::Quad, Shuffle::Lane, first);
    Ok(call.argument(0)?.iter().map(|&data| one_source(b, data, source)).collect())
}

/// Every other movement between lanes.
pub(super) fn shuffle<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    group: Group,
    shuffle: Shuffle,
) -> Result<Vec<Value<'m>>, String> {
    let data = call.argument(0)?;
    let index = lanes_of(Type::int(b.context(), 32));
    if matches!(shuffle, Shuffle::FillUp | Shuffle::FillDown) {
        let filling = call.argument(1)?;
        let delta = resize(b, call.scalar(2)?, index);
        let modulo = match call.arguments.len() {
            3 => index.constant(group.size() as i64),
            _ => resize(b, call.scalar(3)?, index),
        };
        let source = filled_source(b, shuffle == Shuffle::FillUp, delta, modulo);
        return Ok(data.iter().zip(filling).map(|(&data, &fill)| two_sources(b, data, fill, source)).collect());
    }
    let operand = resize(b, call.scalar(1)?, index);
    let source = source(b, group, shuffle, operand);
    Ok(data.iter().map(|&data| one_source(b, data, source)).collect())
}

/// The lane that each lane reads.
fn source<'m>(b: &Builder<'m>, group: Group, shuffle: Shuffle, operand: Value<'m>) -> Value<'m> {
    let ty = operand.ty();
    let last = group.size() as i64 - 1;
    let lane = lane_numbers(ty.element());
    let in_group = |number: Value<'m>| {
        let start = b.and(lane, ty.constant(!last));
        b.or(start, b.and(number, ty.constant(last)))
    };
    let place = b.and(lane, ty.constant(last));
    match shuffle {
        Shuffle::Lane => in_group(operand),
        Shuffle::Xor => in_group(b.xor(lane, operand)),
        Shuffle::RotateUp => in_group(b.sub(lane, operand)),
        Shuffle::RotateDown => in_group(b.add(lane, operand)),
        // Lanes that would read beyond the group keep their own.
        Shuffle::Up | Shuffle::FillUp => {
            let is_inside = b.icmp(IntPredicate::LLVMIntUGE, place, operand);
            b.select(is_inside, b.sub(lane, operand), lane)
        }
        Shuffle::Down | Shuffle::FillDown => {
            let is_inside = b.icmp(IntPredicate::LLVMIntULE, b.add(place, operand), ty.constant(last));
            b.select(is_inside, b.add(lane, operand), lane)
        }
    }
}

/// The lane that each lane reads: of the data, or, from 32 on, of the filling data, which goes on where the data ends.
fn filled_source<'m>(b: &Builder<'m>, up: bool, delta: Value<'m>, modulo: Value<'m>) -> Value<'m> {
    let ty = delta.ty();
    let lane = lane_numbers(ty.element());
    let filling = ty.constant(LANES as i64);
    let place = b.and(lane, b.sub(modulo, ty.constant(1)));
    let (is_inside, inside, beyond) = if up {
        let from = b.sub(lane, delta);
        (b.icmp(IntPredicate::LLVMIntUGE, place, delta), from, b.add(from, modulo))
    } else {
        let from = b.add(lane, delta);
        (b.icmp(IntPredicate::LLVMIntULT, b.add(place, delta), modulo), from, b.sub(from, modulo))
    };
    b.and(b.select(is_inside, inside, b.add(beyond, filling)), ty.constant(2 * LANES as i64 - 1))
}

/// `data` of the lanes `source`.
pub(super) fn one_source<'m>(b: &Builder<'m>, data: Value<'m>, source: Value<'m>) -> Value<'m> {
    match pattern(source) {
        Some(pattern) => b.shuffle(data, data.ty().poison(), &pattern),
        None => look_up(b, data, source),
    }
}

fn two_sources<'m>(b: &Builder<'m>, data: Value<'m>, filling: Value<'m>, source: Value<'m>) -> Value<'m> {
    if let Some(pattern) = pattern(source) {
        return b.shuffle(data, filling, &pattern);
    }
    let lane = b.and(source, source.ty().constant(LANES as i64 - 1));
    let is_data = b.icmp(IntPredicate::LLVMIntULT, source, source.ty().constant(LANES as i64));
    b.select(is_data, look_up(b, data, lane), look_up(b, filling, lane))
}

/// Lanes that are known, as LLVM's shuffles want them.
fn pattern(source: Value) -> Option<Vec<i32>> {
    if !source.is_constant() || source.is_constant_expression() {
        return None;
    }
    (0..LANES)
        .map(|lane| match source.constant_element(lane)? {
            element if element.is_undef() => Some(-1),
            element => element.as_int().map(|number| number as i32),
        })
        .collect()
}
