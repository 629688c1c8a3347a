//! `simd_any`, `quad_ballot` and kin: bits of the active lanes.

use super::Call;
use super::name::{Group, Vote};
use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};
use crate::wave::lanes::{Mask, any, first_active, lane_numbers, lanes_of, mask_bits, resize, splat};

/// A vote of the whole simdgroup.
pub(super) fn scalar<'m>(b: &Builder<'m>, call: &Call<'_, 'm>, vote: Vote) -> Result<Vec<Value<'m>>, String> {
    let bit = Type::int(b.context(), 1);
    let value = match vote {
        Vote::Any => any(b, votes_for(b, call)?),
        Vote::All => b.xor(any(b, votes_against(b, call)?), bit.constant(1)),
        Vote::Ballot => resize(b, mask_bits(b, votes_for(b, call)?), call.result),
        Vote::ActiveThreads => resize(b, mask_bits(b, call.mask), call.result),
        Vote::HelperThread => bit.constant(0),
    };
    Ok(vec![value])
}

/// The active lanes that vote for it. The votes of others may be undefined: a select, never an `and`.
fn votes_for<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Mask<'m>, String> {
    Ok(b.select(call.mask, call.scalar(0)?, call.mask.ty().zero()))
}

/// The active lanes that vote against it.
fn votes_against<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Mask<'m>, String> {
    Ok(b.select(call.mask, b.not(call.scalar(0)?), call.mask.ty().zero()))
}

/// True if any, or all, of the active lanes have voted for it in a ballot.
pub(super) fn count<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    group: Group,
    vote: Vote,
) -> Result<Vec<Value<'m>>, String> {
    let votes = call.scalar(0)?;
    let value = match vote {
        Vote::All => {
            let active = match group {
                Group::Simd => splat(b, resize(b, mask_bits(b, call.mask), votes.ty().element())),
                Group::Quad => quad_bits(b, call.mask, votes.ty()),
            };
            b.icmp(IntPredicate::LLVMIntEQ, b.and(votes, active), active)
        }
        _ => b.icmp(IntPredicate::LLVMIntNE, votes, votes.ty().zero()),
    };
    Ok(vec![value])
}

/// True in the first active lane.
pub(super) fn is_first<'m>(b: &Builder<'m>, mask: Mask<'m>) -> Value<'m> {
    let lane = Type::int(b.context(), 32);
    b.icmp(IntPredicate::LLVMIntEQ, lane_numbers(lane), splat(b, first_active(b, mask)))
}

/// A vote of each quad.
pub(super) fn quads<'m>(b: &Builder<'m>, call: &Call<'_, 'm>, vote: Vote) -> Result<Vec<Value<'m>>, String> {
    let mask = lanes_of(Type::int(b.context(), 1));
    let result = lanes_of(call.result);
    let value = match vote {
        Vote::Any => b.bitcast(any_of_quads(b, mask_bits(b, votes_for(b, call)?)), mask),
        Vote::All => b.not(b.bitcast(any_of_quads(b, mask_bits(b, votes_against(b, call)?)), mask)),
        Vote::Ballot => quad_bits(b, votes_for(b, call)?, result),
        Vote::ActiveThreads => quad_bits(b, call.mask, result),
        Vote::HelperThread => mask.zero(),
    };
    Ok(vec![value])
}

/// True in the first active lane of each quad.
pub(super) fn is_first_of_quad<'m>(b: &Builder<'m>, mask: Mask<'m>) -> Value<'m> {
    let bits = mask_bits(b, mask);
    let before = |distance: i64, lanes: i64| {
        let shifted = b.binary(Opcode::LLVMShl, bits, bits.ty().constant(distance));
        b.and(shifted, bits.ty().constant(lanes))
    };
    let others = b.or(before(1, 0xeeee_eeee), b.or(before(2, 0xcccc_cccc), before(3, 0x8888_8888)));
    b.bitcast(b.and(bits, b.not(others)), mask.ty())
}

/// The four bits of each lane's quad, lowest first.
pub(super) fn quad_bits<'m>(b: &Builder<'m>, votes: Mask<'m>, ty: Type<'m>) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    let quad_start = b.and(lane_numbers(int), lanes_of(int).constant(!3));
    let bits = b.binary(Opcode::LLVMLShr, splat(b, mask_bits(b, votes)), quad_start);
    resize(b, b.and(bits, lanes_of(int).constant(15)), ty)
}

/// All four bits where any of the four is set, in an `i32`.
fn any_of_quads<'m>(b: &Builder<'m>, bits: Value<'m>) -> Value<'m> {
    let ty = bits.ty();
    let fold = |bits: Value<'m>, distance: i64| b.or(bits, b.binary(Opcode::LLVMLShr, bits, ty.constant(distance)));
    let lowest = b.and(fold(fold(bits, 1), 2), ty.constant(0x1111_1111));
    b.mul(lowest, ty.constant(15))
}
