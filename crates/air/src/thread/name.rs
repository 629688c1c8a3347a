//! The names of functions, parsed: `air.simd_shuffle_xor.u.v2i32`, `air.quad_sum.f32`, `air.simd_ballot.i64`.

use super::number::Number;

/// A name, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Name {
    pub(crate) group: Group,
    pub(crate) operation: Operation,
    pub(crate) number: Number,
}

/// The lanes that a function is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    Simd,
    Quad,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Reduce(Reduction),
    /// The reduction of the lanes before, and of this one, too, when it is inclusive.
    Prefix(Reduction, Prefix),
    Shuffle(Shuffle),
    Broadcast,
    BroadcastFirst,
    Vote(Vote),
    /// A question about the active lanes, answered by a vote, the argument.
    Count(Vote),
    IsFirst,
    GroupSize,
    LaneIndex,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Prefix {
    Inclusive,
    Exclusive,
}

/// The source of each lane's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shuffle {
    Lane,
    Xor,
    Up,
    Down,
    RotateUp,
    RotateDown,
    FillUp,
    FillDown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    Any,
    All,
    Ballot,
    ActiveThreads,
    /// No thread of a compute kernel is one.
    HelperThread,
}

impl Group {
    /// The number of lanes.
    pub(crate) fn size(self) -> usize {
        match self {
            Group::Simd => abi::LANES,
            Group::Quad => 4,
        }
    }
}

impl Name {
    pub(crate) fn parse(name: &str) -> Option<Name> {
        let name = name.strip_prefix("air.")?;
        let (function, suffix) = name.split_once('.').unwrap_or((name, ""));
        let (group, operation) = match function {
            "get_simdgroup_size" => (Group::Simd, Operation::GroupSize),
            "get_thread_index_in_simdgroup" => (Group::Simd, Operation::LaneIndex),
            "get_quadgroup_size" => (Group::Quad, Operation::GroupSize),
            _ => match function.split_once('_')? {
                ("simd", operation) => (Group::Simd, Operation::parse(operation)?),
                ("quad", operation) => (Group::Quad, Operation::parse(operation)?),
                _ => return None,
            },
        };
        Some(Name { group, operation, number: Number::parse(suffix) })
    }

    /// True if all active lanes of the simdgroup get the same result, whatever their arguments.
    pub(crate) fn is_uniform(&self) -> bool {
        match self.operation {
            Operation::GroupSize | Operation::Vote(Vote::HelperThread) => true,
            // The lane of a broadcast must be the same in all lanes of the group (specification, 6.9.2).
            Operation::Reduce(_) | Operation::Broadcast | Operation::BroadcastFirst | Operation::Vote(_) => {
                self.group == Group::Simd
            }
            Operation::Prefix(..)
            | Operation::Shuffle(_)
            | Operation::Count(_)
            | Operation::IsFirst
            | Operation::LaneIndex => false,
        }
    }
}

impl Operation {
    fn parse(name: &str) -> Option<Operation> {
        use Operation::{Reduce, Shuffle as Move};
        Some(match name {
            "sum" => Reduce(Reduction::Sum),
            "product" => Reduce(Reduction::Product),
            "min" => Reduce(Reduction::Min),
            "max" => Reduce(Reduction::Max),
            "and" => Reduce(Reduction::And),
            "or" => Reduce(Reduction::Or),
            "xor" => Reduce(Reduction::Xor),
            "prefix_inclusive_sum" => Operation::Prefix(Reduction::Sum, Prefix::Inclusive),
            "prefix_exclusive_sum" => Operation::Prefix(Reduction::Sum, Prefix::Exclusive),
            "prefix_inclusive_product" => Operation::Prefix(Reduction::Product, Prefix::Inclusive),
            "prefix_exclusive_product" => Operation::Prefix(Reduction::Product, Prefix::Exclusive),
            "shuffle" => Move(Shuffle::Lane),
            "shuffle_xor" => Move(Shuffle::Xor),
            "shuffle_up" => Move(Shuffle::Up),
            "shuffle_down" => Move(Shuffle::Down),
            "shuffle_rotate_up" => Move(Shuffle::RotateUp),
            "shuffle_rotate_down" => Move(Shuffle::RotateDown),
            "shuffle_and_fill_up" => Move(Shuffle::FillUp),
            "shuffle_and_fill_down" => Move(Shuffle::FillDown),
            "broadcast" => Operation::Broadcast,
            "broadcast_first" => Operation::BroadcastFirst,
            "any" => Operation::Vote(Vote::Any),
            "all" => Operation::Vote(Vote::All),
            "ballot" => Operation::Vote(Vote::Ballot),
            "active_threads_mask" => Operation::Vote(Vote::ActiveThreads),
            "is_helper_thread" => Operation::Vote(Vote::HelperThread),
            "vote_any" => Operation::Count(Vote::Any),
            "vote_all" => Operation::Count(Vote::All),
            "is_first" => Operation::IsFirst,
            _ => return None,
        })
    }
}
