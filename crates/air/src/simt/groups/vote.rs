//! `simd_any`, `quad_ballot` and kin: bits of the active lanes.

use super::{Call, bits_of_group};
use crate::ir::{Builder, IntPredicate, Type, Value};
use crate::simt::lanes::{Active, lane, resize};
use crate::thread::name::{Group, Vote};

/// A vote of the lanes of a group.
pub(super) fn vote<'m>(b: &Builder<'m>, call: &Call<'m>, group: Group, vote: Vote) -> Result<Value<'m>, String> {
    let result = call.call.ty();
    let mask = call.active.mask;
    let sync = |name: &str, vote: Value<'m>| b.intrinsic(name, &[], &[mask, vote]);
    let ballot = |vote: Value<'m>| bits_of_group(b, sync("llvm.nvvm.vote.ballot.sync", vote), group);
    Ok(match (vote, group) {
        (Vote::Any, Group::Simd) => sync("llvm.nvvm.vote.any.sync", call.argument(0)?),
        (Vote::All, Group::Simd) => sync("llvm.nvvm.vote.all.sync", call.argument(0)?),
        (Vote::Any, Group::Quad) => {
            let votes = ballot(call.argument(0)?);
            b.icmp(IntPredicate::LLVMIntNE, votes, votes.ty().zero())
        }
        (Vote::All, Group::Quad) => {
            let against = ballot(b.not(call.argument(0)?));
            b.icmp(IntPredicate::LLVMIntEQ, against, against.ty().zero())
        }
        (Vote::Ballot, _) => resize(b, ballot(call.argument(0)?), result),
        (Vote::ActiveThreads, _) => resize(b, bits_of_group(b, mask, group), result),
        (Vote::HelperThread, _) => result.zero(),
    })
}

/// True if any, or all, of the active lanes have voted for it in a ballot.
pub(super) fn count<'m>(b: &Builder<'m>, call: &Call<'m>, group: Group, vote: Vote) -> Result<Value<'m>, String> {
    let votes = call.argument(0)?;
    Ok(match vote {
        Vote::All => {
            let active = resize(b, bits_of_group(b, call.active.mask, group), votes.ty());
            b.icmp(IntPredicate::LLVMIntEQ, b.and(votes, active), active)
        }
        _ => b.icmp(IntPredicate::LLVMIntNE, votes, votes.ty().zero()),
    })
}

/// True in the first active lane of a group.
pub(super) fn is_first<'m>(b: &Builder<'m>, active: Active<'m>, group: Group) -> Value<'m> {
    let place = match group {
        Group::Simd => lane(b),
        Group::Quad => b.and(lane(b), Type::int(b.context(), 32).constant(3)),
    };
    let bits = bits_of_group(b, active.mask, group);
    let never_zero = Type::int(b.context(), 1).constant(1);
    let first = b.intrinsic("llvm.cttz", &[bits.ty()], &[bits, never_zero]);
    b.icmp(IntPredicate::LLVMIntEQ, place, first)
}
