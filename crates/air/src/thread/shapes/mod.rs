//! Shapes: the relation between the lanes' values of each component. They are the same in all lanes, a ramp
//! (`base + stride * lane`), or anything. A uniform value stays scalar; a ramp is kept as its base, and an address that
//! is one needs no gather.

mod transfer;

use super::flow::Flow;
use super::graph::Graph;
use super::types::{self, components};
use crate::ir::{Layout, Opcode, Type, Value};
use abi::{LANES, Lanes};
use rustc_hash::FxHashMap;

/// The shape of one component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Not known yet, or undefined.
    Unknown,
    /// `base + stride * lane`.
    Ramp(Ramp),
    /// Anything.
    Varying,
}

/// A ramp; for pointers the stride is in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ramp {
    pub(crate) stride: i64,
    /// False when an unsigned number was widened that may wrap around between two lanes. Then the ramp is right for all
    /// lanes on the side of the wrap that matters for an address, and anything but an address must look at the lanes.
    pub(crate) exact: bool,
    /// True if no lane's value wraps around as an unsigned number.
    no_wrap: bool,
    /// The number of the base's lowest bits that are known to be zero.
    zeros: u32,
}

/// All bits of any number.
const ALL_BITS: u32 = 64;

impl Ramp {
    fn new(stride: i64, exact: bool, no_wrap: bool, zeros: u32) -> Ramp {
        let ramp = Ramp { stride, exact, no_wrap, zeros };
        // Lane 0 has the largest number of a ramp that falls: it may wrap in a lane that does not run.
        let rises = stride >= 0;
        Ramp { no_wrap: (no_wrap && rises) || ramp.stays_within(zeros), ..ramp }
    }

    /// True if the lanes differ in the lowest `bits` bits only, which are zero in the base.
    fn stays_within(self, bits: u32) -> bool {
        let reach = self.stride.checked_mul(LANES as i64 - 1).and_then(|reach| u64::try_from(reach).ok());
        bits <= self.zeros && reach.is_some_and(|reach| bits >= u64::BITS || reach < 1 << bits)
    }
}

impl Shape {
    pub(crate) const UNIFORM: Shape = Shape::Ramp(Ramp { stride: 0, exact: true, no_wrap: true, zeros: 0 });

    /// A number that rises by one from lane to lane and never wraps: a thread's position. It begins at a multiple of
    /// 2 to the power of `zeros`.
    pub(crate) fn position(zeros: u32) -> Shape {
        Shape::Ramp(Ramp { stride: 1, exact: true, no_wrap: true, zeros })
    }

    /// The shape of a component of a built-in.
    pub(crate) fn of_builtin(what: &str, component: usize, lanes: Lanes) -> Shape {
        match what.strip_prefix("air.").unwrap_or(what) {
            "thread_index_in_simdgroup" => Shape::position(32),
            "thread_index_in_threadgroup" => Shape::position(LANES.trailing_zeros()),
            "thread_position_in_grid" | "thread_position_in_threadgroup" => match (lanes, component) {
                // A threadgroup's width need not be a multiple of 32 when it has one row only.
                (Lanes::Row, 0) if what.ends_with("grid") => Shape::position(0),
                (Lanes::Row, 0) => Shape::position(LANES.trailing_zeros()),
                (Lanes::Row, _) => Shape::UNIFORM,
                (Lanes::Any, _) => Shape::Varying,
            },
            "thread_index_in_quadgroup" | "quadgroup_index_in_simdgroup" | "quadgroup_index_in_threadgroup" => {
                Shape::Varying
            }
            _ => Shape::UNIFORM,
        }
    }

    fn uniform(zeros: u32) -> Shape {
        Shape::Ramp(Ramp::new(0, true, true, zeros))
    }

    pub(crate) fn is_uniform(self) -> bool {
        matches!(self, Shape::Ramp(Ramp { stride: 0, exact: true, .. }) | Shape::Unknown)
    }

    /// The shape of a value that is one or the other, the same one in every lane.
    fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Unknown, shape) | (shape, Shape::Unknown) => shape,
            (Shape::Ramp(a), Shape::Ramp(b)) if a.stride == b.stride => Shape::Ramp(Ramp {
                stride: a.stride,
                exact: a.exact && b.exact,
                no_wrap: a.no_wrap && b.no_wrap,
                zeros: a.zeros.min(b.zeros),
            }),
            _ => Shape::Varying,
        }
    }
}

/// The shapes of all values of a function.
pub(crate) struct Shapes<'m> {
    known: FxHashMap<Value<'m>, Vec<Shape>>,
    layout: Layout<'m>,
}

impl<'m> Shapes<'m> {
    /// Finds the shapes and the flow that follows from them; `seeds` are the function's arguments.
    pub(crate) fn new(
        graph: &Graph<'m>,
        layout: Layout<'m>,
        seeds: Vec<(Value<'m>, Vec<Shape>)>,
    ) -> (Shapes<'m>, Flow) {
        let mut shapes = Shapes { known: seeds.into_iter().collect(), layout };
        let mut flow = Flow::new(graph, &vec![false; graph.len()]);
        loop {
            while shapes.pass(graph, &flow) {}
            let divergent: Vec<bool> =
                graph.blocks.iter().map(|block| shapes.is_divergent(block.terminator())).collect();
            let next = Flow::new(graph, &divergent);
            let settled = next.deferred == flow.deferred && next.pending == flow.pending;
            flow = next;
            if settled {
                return (shapes, flow);
            }
        }
    }

    /// True if the lanes part at a terminator.
    pub(crate) fn is_divergent(&self, terminator: Option<Value<'m>>) -> bool {
        let condition = terminator.filter(|end| end.opcode() == Opcode::LLVMBr).and_then(Value::condition);
        condition.is_some_and(|condition| !self.of(condition)[0].is_uniform())
    }

    /// The shapes of a value's components.
    pub(crate) fn of(&self, value: Value<'m>) -> Vec<Shape> {
        if let Some(shapes) = self.known.get(&value) {
            return shapes.clone();
        }
        if let Some(constant) = value.as_int() {
            return vec![Shape::uniform(constant.trailing_zeros())];
        }
        let unknown = value.is_undef() || value.is_instruction();
        vec![if unknown { Shape::Unknown } else { Shape::UNIFORM }; components(value.ty()).len()]
    }

    fn all_uniform(&self, values: &[Value<'m>]) -> bool {
        values.iter().all(|&value| self.of(value).iter().all(|shape| shape.is_uniform()))
    }

    /// Goes over the function once; returns true if anything changed.
    fn pass(&mut self, graph: &Graph<'m>, flow: &Flow) -> bool {
        let mut changed = false;
        for (number, block) in graph.blocks.iter().enumerate() {
            for instruction in block.instructions() {
                if instruction.ty().is_void() {
                    continue;
                }
                let found = self.transfer(instruction, flow.deferred[number]);
                let old = self.of(instruction);
                // A shape only moves towards `Varying`, so that the loop ends.
                let merged: Vec<Shape> = old.iter().zip(&found).map(|(old, new)| old.join(*new)).collect();
                if merged != old || !self.known.contains_key(&instruction) {
                    self.known.insert(instruction, merged);
                    changed = true;
                }
            }
        }
        changed
    }
}

/// For each element of a shuffle's result the operand (0 or 1) and the component of it; `None` for anything.
pub(crate) fn shuffle_pattern(instruction: Value) -> Vec<Option<(usize, usize)>> {
    let source = instruction.operand(0).ty();
    let (length, held) = (source.length(), types::vector_components(source));
    instruction
        .shuffle_pattern()
        .into_iter()
        .take(types::vector_components(instruction.ty()))
        .map(|pick| {
            let pick = usize::try_from(pick).ok()?;
            let (side, at) = (pick / length, pick % length);
            (at < held).then_some((side, at))
        })
        .collect()
}

/// The first component of a member of an aggregate.
pub(crate) fn member_start(aggregate: Type, indices: &[u32]) -> usize {
    let (mut ty, mut start) = (aggregate, 0);
    for &index in indices {
        if ty.kind() == crate::ir::TypeKind::LLVMStructTypeKind {
            let members = ty.members();
            start += members[..index as usize].iter().map(|&member| components(member).len()).sum::<usize>();
            ty = members[index as usize];
        } else {
            ty = ty.element();
            start += components(ty).len() * index as usize;
        }
    }
    start
}
