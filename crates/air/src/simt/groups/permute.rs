//! Shuffles and broadcasts: each lane reads the value of another.

use super::{Call, bits_of_group, quad_start};
use crate::ir::{Builder, IntPredicate, Type, Value};
use crate::simt::lanes::{Movement, from_lane, lane, moved, resize};
use crate::thread::name::{Group, Shuffle};
use abi::LANES;

/// The value of the first active lane of the group.
pub(super) fn broadcast_first<'m>(b: &Builder<'m>, call: &Call<'m>, group: Group) -> Result<Value<'m>, String> {
    let data = call.argument(0)?;
    let first = match group {
        Group::Simd => call.active.first(b),
        Group::Quad => {
            let bits = bits_of_group(b, call.active.mask, group);
            let never_zero = Type::int(b.context(), 1).constant(1);
            b.or(quad_start(b), b.intrinsic("llvm.cttz", &[bits.ty()], &[bits, never_zero]))
        }
    };
    Ok(from_lane(b, call.active, data, first))
}

/// Every other movement between lanes.
pub(super) fn shuffle<'m>(
    b: &Builder<'m>,
    call: &Call<'m>,
    group: Group,
    shuffle: Shuffle,
) -> Result<Value<'m>, String> {
    let data = call.argument(0)?;
    let int = Type::int(b.context(), 32);
    if matches!(shuffle, Shuffle::FillUp | Shuffle::FillDown) {
        return filled(b, call, group, shuffle);
    }
    let operand = resize(b, call.argument(1)?, int);
    let movement = match (group, shuffle) {
        (Group::Simd, Shuffle::Xor) => Movement::Xor,
        (Group::Simd, Shuffle::Up) => Movement::Up,
        (Group::Simd, Shuffle::Down) => Movement::Down,
        _ => Movement::From,
    };
    if movement != Movement::From {
        return Ok(moved(b, call.active, movement, data, operand));
    }
    Ok(from_lane(b, call.active, data, source(b, group, shuffle, operand)))
}

/// The lane that this lane reads.
fn source<'m>(b: &Builder<'m>, group: Group, shuffle: Shuffle, operand: Value<'m>) -> Value<'m> {
    let ty = operand.ty();
    let last = group.size() as i64 - 1;
    let lane = lane(b);
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

/// A shuffle up or down in which other data goes on where the data ends.
fn filled<'m>(b: &Builder<'m>, call: &Call<'m>, group: Group, shuffle: Shuffle) -> Result<Value<'m>, String> {
    let int = Type::int(b.context(), 32);
    let (data, filling) = (call.argument(0)?, call.argument(1)?);
    let delta = resize(b, call.argument(2)?, int);
    let modulo = match call.arguments.len() {
        3 => int.constant(group.size() as i64),
        _ => resize(b, call.argument(3)?, int),
    };
    let lane = lane(b);
    let place = b.and(lane, b.sub(modulo, int.constant(1)));
    let (is_inside, inside, beyond) = if shuffle == Shuffle::FillUp {
        let from = b.sub(lane, delta);
        (b.icmp(IntPredicate::LLVMIntUGE, place, delta), from, b.add(from, modulo))
    } else {
        let from = b.add(lane, delta);
        (b.icmp(IntPredicate::LLVMIntULT, b.add(place, delta), modulo), from, b.sub(from, modulo))
    };
    let last = int.constant(LANES as i64 - 1);
    let of_data = from_lane(b, call.active, data, b.and(inside, last));
    let of_filling = from_lane(b, call.active, filling, b.and(beyond, last));
    Ok(b.select(is_inside, of_data, of_filling))
}
