//! `simd_any`, `simd_ballot` and kin: bits of the active lanes.

use super::Call;
use super::name::Vote;
use crate::ir::{Builder, IntPredicate, Type, Value};
use crate::wave::lanes::{Mask, any, first_active, lane_numbers, mask_bits, resize, splat};

/// A vote of the whole simdgroup.
pub(super) fn scalar(b: &Builder, call: &Call, vote: Vote) -> Result<Vec<Value>, String> {
    let bit = Type::int(b.context(), 1);
    let value = match vote {
        Vote::Any => any(b, b.and(call.scalar(0)?, call.mask)),
        Vote::All => {
            let against = b.and(b.not(call.scalar(0)?), call.mask);
            b.xor(any(b, against), bit.constant(1))
        }
        Vote::Ballot => resize(b, mask_bits(b, b.and(call.scalar(0)?, call.mask)), call.result),
        Vote::ActiveThreads => resize(b, mask_bits(b, call.mask), call.result),
        Vote::HelperThread => bit.constant(0),
    };
    Ok(vec![value])
}

/// Whether a lane is the first that is active.
pub(super) fn is_first(b: &Builder, mask: Mask) -> Value {
    let lane = Type::int(b.context(), 32);
    b.icmp(IntPredicate::LLVMIntEQ, lane_numbers(lane), splat(b, first_active(b, mask)))
}
