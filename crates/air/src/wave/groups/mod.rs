//! Functions between the lanes of a simdgroup, on vectors with one element for each lane.
//!
//! * [`emit`] and [`emit_uniform`]: `air.simd_*` and `air.quad_*`, by what they do: [`reduce`], [`prefix`],
//!   [`permute`], [`vote`]; and arithmetic on simdgroup matrices: [`matrix`].
//! * [`matrix_memory`]: loads and stores of simdgroup matrices.
//! * [`atomic`]: atomic functions, the lanes taking turns.
//!
//! A lane that is not active takes no part: reductions see the neutral element in its place, ballots a zero, and a
//! shuffle reads any value from it.

mod atomic;
mod lookup;
mod matrix;
mod matrix_memory;
mod permute;
mod prefix;
mod reduce;
#[cfg(test)]
mod tests;
mod vote;

use super::lanes::{Mask, splat};
use crate::ir::{Builder, Type, Value};
use crate::thread::{name, number};
pub(super) use atomic::{Atomic, atomic};
pub(super) use lookup::Permutation;
pub(super) use matrix_memory::{is_matrix_memory, matrix_addresses, matrix_memory};
use name::{Group, Name, Operation};

/// A call of a function between lanes.
pub(super) struct Call<'a, 'm> {
    /// `air.simd_sum.f32`
    pub(super) name: &'a str,
    /// Each argument as its components (a scalar has one, a `float4` four), each component with one element per lane.
    /// bfloat is `i16` here: only the name tells that these bits are numbers.
    pub(super) arguments: &'a [Vec<Value<'m>>],
    /// The active lanes; at least one is.
    pub(super) mask: Mask<'m>,
    /// The type of the result in one lane, as AIR has it.
    pub(super) result: Type<'m>,
    /// LLVM's fast-math flags of the call.
    pub(super) fast_math: u32,
}

/// The components of the result, with one element per lane. `None` when the name is not that of a function between
/// lanes, an error in words when the call is not as it should be.
pub(super) fn emit<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Option<Result<Vec<Value<'m>>, String>> {
    if let Some(name) = matrix::Name::parse(call.name) {
        return (!name.is_memory()).then(|| matrix::arithmetic(b, call, &name));
    }
    let name = Name::parse(call.name)?;
    if name.is_uniform() {
        let scalars = uniform(b, call, &name);
        return Some(scalars.map(|scalars| scalars.into_iter().map(|scalar| splat(b, scalar)).collect()));
    }
    Some(varying(b, call, &name))
}

/// The components of the result as scalars, where it is the same in all lanes ([`result_is_uniform`]).
pub(super) fn emit_uniform<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Option<Result<Vec<Value<'m>>, String>> {
    let name = Name::parse(call.name).filter(Name::is_uniform)?;
    Some(uniform(b, call, &name))
}

/// True if the function returns the same to all active lanes, whatever their arguments.
pub(super) fn result_is_uniform(name: &str) -> bool {
    Name::parse(name).is_some_and(|name| name.is_uniform())
}

fn uniform<'m>(b: &Builder<'m>, call: &Call<'_, 'm>, name: &Name) -> Result<Vec<Value<'m>>, String> {
    match name.operation {
        Operation::Reduce(reduction) => {
            let data = call.argument(0)?;
            Ok(data.iter().map(|&part| reduce::scalar(b, call, name.number, reduction, part)).collect())
        }
        Operation::Broadcast => permute::broadcast(b, call),
        Operation::BroadcastFirst => permute::broadcast_first(b, call),
        Operation::Vote(vote) => vote::scalar(b, call, vote),
        Operation::GroupSize => Ok(vec![call.result.constant(name.group.size() as i64)]),
        Operation::Prefix(..)
        | Operation::Shuffle(_)
        | Operation::Count(_)
        | Operation::IsFirst
        | Operation::LaneIndex => Err(format!("'{}' has no value that all lanes share", call.name)),
    }
}

fn varying<'m>(b: &Builder<'m>, call: &Call<'_, 'm>, name: &Name) -> Result<Vec<Value<'m>>, String> {
    let each =
        |emit: &dyn Fn(Value<'m>) -> Value<'m>| Ok(call.argument(0)?.iter().map(|&part| emit(part)).collect());
    match name.operation {
        Operation::Reduce(reduction) => each(&|part| reduce::quads(b, call, name.number, reduction, part)),
        Operation::Prefix(reduction, kind) => each(&|part| prefix::prefix(b, call, name, reduction, kind, part)),
        Operation::Shuffle(shuffle) => permute::shuffle(b, call, name.group, shuffle),
        Operation::Broadcast => permute::shuffle(b, call, name.group, name::Shuffle::Lane),
        Operation::BroadcastFirst => permute::quad_broadcast_first(b, call),
        Operation::Vote(vote) => vote::quads(b, call, vote),
        Operation::Count(vote) => vote::count(b, call, name.group, vote),
        Operation::IsFirst if name.group == Group::Quad => Ok(vec![vote::is_first_of_quad(b, call.mask)]),
        Operation::IsFirst => Ok(vec![vote::is_first(b, call.mask)]),
        Operation::LaneIndex => Ok(vec![super::lanes::lane_numbers(call.result)]),
        Operation::GroupSize => uniform(b, call, name),
    }
}

impl<'m> Call<'_, 'm> {
    fn argument(&self, index: usize) -> Result<&[Value<'m>], String> {
        self.arguments
            .get(index)
            .map(Vec::as_slice)
            .ok_or_else(|| format!("'{}' lacks argument {index}", self.name))
    }

    /// An argument that is a scalar in AIR.
    fn scalar(&self, index: usize) -> Result<Value<'m>, String> {
        match self.argument(index)? {
            &[part] => Ok(part),
            parts => Err(format!("argument {index} of '{}' has {} components, not one", self.name, parts.len())),
        }
    }
}
