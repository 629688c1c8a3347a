//! Functions between the lanes of a simdgroup, in the code of one lane.
//!
//! * [`reduce`]: `simd_sum`, `simd_prefix_inclusive_sum` and kin.
//! * [`permute`]: shuffles and broadcasts; [`vote`]: votes.
//!
//! Lanes that are not active take no part. If all 32 are known to be there, a reduction is a butterfly in the order in
//! which CPUs compute it; otherwise a loop over the active lanes.

mod permute;
mod reduce;
mod vote;

use super::lanes::{Active, lane, resize};
use crate::ir::{Builder, Value};
use crate::thread::name::{Group, Name, Operation, Shuffle};
use crate::thread::number::Number;

/// A call of a function between lanes.
pub(super) struct Call<'m> {
    pub(super) call: Value<'m>,
    pub(super) active: Active<'m>,
    name: Name,
    arguments: Vec<Value<'m>>,
    /// LLVM's fast-math flags of the call.
    flags: u32,
}

/// The result of a function between lanes; `None` when the name is another one, an error in words when the call is not
/// as it should be.
pub(super) fn emit<'m>(b: &Builder<'m>, call: Value<'m>, active: Active<'m>) -> Option<Result<Value<'m>, String>> {
    let name = Name::parse(&call.callee()?.name())?;
    let call = Call { call, active, name, arguments: call.arguments(), flags: call.fast_math().unwrap_or(0) };
    Some(call.emit(b))
}

impl<'m> Call<'m> {
    fn emit(&self, b: &Builder<'m>) -> Result<Value<'m>, String> {
        let group = self.name.group;
        let result = self.call.ty();
        match self.name.operation {
            Operation::Reduce(reduction) => {
                self.by_component(b, |part| reduce::reduce(b, self, group, reduction, part))
            }
            Operation::Prefix(reduction, kind) => {
                self.by_component(b, |part| reduce::prefix(b, self, group, reduction, kind, part))
            }
            Operation::Shuffle(shuffle) => permute::shuffle(b, self, group, shuffle),
            Operation::Broadcast => permute::shuffle(b, self, group, Shuffle::Lane),
            Operation::BroadcastFirst => permute::broadcast_first(b, self, group),
            Operation::Vote(vote) => vote::vote(b, self, group, vote),
            Operation::Count(vote) => vote::count(b, self, group, vote),
            Operation::IsFirst => Ok(vote::is_first(b, self.active, group)),
            Operation::GroupSize => Ok(result.constant(group.size() as i64)),
            Operation::LaneIndex => Ok(resize(b, lane(b), result)),
        }
    }

    fn argument(&self, index: usize) -> Result<Value<'m>, String> {
        let lacks = || format!("a function between lanes lacks argument {index}");
        self.arguments.get(index).copied().ok_or_else(lacks)
    }

    /// Applies a function to each component of the first argument, with the bits of a bfloat as an integer.
    fn by_component(
        &self,
        b: &Builder<'m>,
        function: impl Fn(Value<'m>) -> Value<'m>,
    ) -> Result<Value<'m>, String> {
        let data = self.argument(0)?;
        let each = |part: Value<'m>| {
            if self.name.number != Number::BFloat {
                return function(part);
            }
            let bits = b.bitcast(part, crate::ir::Type::int(b.context(), 16));
            b.bitcast(function(bits), part.ty())
        };
        if !data.ty().is_vector() {
            return Ok(each(data));
        }
        let place = |index: usize| crate::ir::Type::int(b.context(), 32).constant(index as i64);
        let mut result = data.ty().poison();
        for index in 0..data.ty().length() {
            result = b.insert(result, each(b.extract(data, place(index))), place(index));
        }
        Ok(result)
    }
}

/// The number of the first lane of this lane's quad.
fn quad_start<'m>(b: &Builder<'m>) -> Value<'m> {
    let lane = lane(b);
    b.and(lane, lane.ty().constant(!3))
}

/// The lanes of a mask that are in this lane's group, its first in the lowest bit.
fn bits_of_group<'m>(b: &Builder<'m>, mask: Value<'m>, group: Group) -> Value<'m> {
    use crate::ir::Opcode::LLVMLShr;
    match group {
        Group::Simd => mask,
        Group::Quad => b.and(b.binary(LLVMLShr, mask, quad_start(b)), mask.ty().constant(15)),
    }
}
