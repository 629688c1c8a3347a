//! How the lanes' values of each component relate: the same in all lanes, a ramp (`base + stride * lane`), or anything.
//! What is the same stays scalar; a ramp is kept as its base, and an address that is one needs no gather.

use super::flow::Flow;
use super::graph::Graph;
use super::types::{Layout, components};
use super::{calls, types};
use crate::ir::{IntPredicate, Opcode, Type, Value};
use abi::LANES;
use inkwell::llvm_sys::core::LLVMGetIndices;
use inkwell::llvm_sys::core::{
    LLVMGetIsDisjoint, LLVMGetMaskValue, LLVMGetNUW, LLVMGetNumIndices, LLVMGetNumMaskElements,
};
use rustc_hash::FxHashMap;

/// The shape of one component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// Not known yet, or undefined.
    Unknown,
    /// `base + stride * lane`.
    Ramp(Ramp),
    /// Anything.
    Varying,
}

/// A ramp; for pointers the stride is in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ramp {
    pub(super) stride: i64,
    /// False when an unsigned number was widened that may wrap around between two lanes. Then the ramp is right for all
    /// lanes on the side of the wrap that matters for an address, and anything but an address must look at the lanes.
    pub(super) exact: bool,
    /// Whether no lane's value wraps around as an unsigned number.
    no_wrap: bool,
    /// How many of the base's lowest bits are known to be zero.
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

    /// Whether the lanes differ in the lowest `bits` bits only, in which the base has none.
    fn stays_within(self, bits: u32) -> bool {
        let reach = self.stride.checked_mul(LANES as i64 - 1).and_then(|reach| u64::try_from(reach).ok());
        bits <= self.zeros && reach.is_some_and(|reach| bits >= u64::BITS || reach < 1 << bits)
    }
}

impl Shape {
    pub(super) const UNIFORM: Shape = Shape::Ramp(Ramp { stride: 0, exact: true, no_wrap: true, zeros: 0 });

    /// A number that rises by one from lane to lane and never wraps: a thread's position. It begins at a multiple of
    /// 2 to the power of `zeros`.
    pub(super) fn position(zeros: u32) -> Shape {
        Shape::Ramp(Ramp { stride: 1, exact: true, no_wrap: true, zeros })
    }

    fn uniform(zeros: u32) -> Shape {
        Shape::Ramp(Ramp::new(0, true, true, zeros))
    }

    pub(super) fn is_uniform(self) -> bool {
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
pub(super) struct Shapes {
    known: FxHashMap<Value, Vec<Shape>>,
    layout: Layout,
}

impl Shapes {
    /// Finds the shapes and the flow that follows from them; `seeds` are the function's arguments.
    pub(super) fn new(graph: &Graph, layout: Layout, seeds: Vec<(Value, Vec<Shape>)>) -> (Shapes, Flow) {
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

    /// Whether the lanes part at a terminator.
    pub(super) fn is_divergent(&self, terminator: Option<Value>) -> bool {
        let condition = terminator.filter(|end| end.opcode() == Opcode::LLVMBr).and_then(Value::condition);
        condition.is_some_and(|condition| !self.of(condition)[0].is_uniform())
    }

    /// The shapes of a value's components.
    pub(super) fn of(&self, value: Value) -> Vec<Shape> {
        if let Some(shapes) = self.known.get(&value) {
            return shapes.clone();
        }
        if let Some(constant) = value.as_int() {
            return vec![Shape::uniform(constant.trailing_zeros())];
        }
        let unknown = value.is_undef() || value.is_instruction();
        vec![if unknown { Shape::Unknown } else { Shape::UNIFORM }; components(value.ty()).len()]
    }

    fn all_uniform(&self, values: &[Value]) -> bool {
        values.iter().all(|&value| self.of(value).iter().all(|shape| shape.is_uniform()))
    }

    /// Goes over the function once; whether anything changed.
    fn pass(&mut self, graph: &Graph, flow: &Flow) -> bool {
        let mut changed = false;
        for (number, block) in graph.blocks.iter().enumerate() {
            for instruction in block.instructions() {
                if instruction.ty().is_void() {
                    continue;
                }
                let found = self.transfer(instruction, flow.deferred[number]);
                let old = self.of(instruction);
                // Only downwards, so that it ends.
                let merged: Vec<Shape> = old.iter().zip(&found).map(|(old, new)| old.join(*new)).collect();
                if merged != old || !self.known.contains_key(&instruction) {
                    self.known.insert(instruction, merged);
                    changed = true;
                }
            }
        }
        changed
    }

    fn transfer(&self, instruction: Value, deferred: bool) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        match instruction.opcode() {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl | Opcode::LLVMOr => {
                self.arithmetic(instruction)
            }
            Opcode::LLVMAnd | Opcode::LLVMLShr => self.low_or_high_bits(instruction),
            Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc => self.resize(instruction),
            Opcode::LLVMFreeze | Opcode::LLVMBitCast if components(instruction.operand(0).ty()).len() == count => {
                let same = components(instruction.ty()) == components(instruction.operand(0).ty());
                if same { self.of(instruction.operand(0)) } else { self.pointwise(instruction) }
            }
            Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => {
                self.of(instruction.operand(0))
            }
            Opcode::LLVMGetElementPtr => vec![self.address(instruction)],
            Opcode::LLVMSelect => self.select(instruction),
            Opcode::LLVMPHI => self.phi(instruction, deferred),
            Opcode::LLVMICmp => self.compare(instruction),
            Opcode::LLVMLoad => {
                let pointer = instruction.operand(0);
                let private = pointer.ty().address_space() == 0;
                let shape = self.of(pointer)[0];
                vec![if !private && shape.is_uniform() { shape } else { Shape::Varying }; count]
            }
            Opcode::LLVMAlloca => vec![Shape::UNIFORM],
            Opcode::LLVMExtractElement => {
                let vector = self.of(instruction.operand(0));
                match instruction.operand(1).as_int() {
                    Some(index) => vec![vector.get(index as usize).copied().unwrap_or(Shape::Unknown)],
                    None => vec![self.uniform_if(self.all_uniform(&instruction.operands()))],
                }
            }
            Opcode::LLVMInsertElement => {
                let mut shapes = self.of(instruction.operand(0));
                match instruction.operand(2).as_int() {
                    Some(index) => {
                        if let Some(shape) = shapes.get_mut(index as usize) {
                            *shape = self.of(instruction.operand(1))[0];
                        }
                        shapes
                    }
                    None => vec![self.uniform_if(self.all_uniform(&instruction.operands())); count],
                }
            }
            Opcode::LLVMShuffleVector => {
                let both: Vec<Value> = instruction.operands()[..2].to_vec();
                shuffle_pattern(instruction)
                    .into_iter()
                    .map(|pick| pick.map_or(Shape::Unknown, |(side, at)| self.of(both[side])[at]))
                    .collect()
            }
            Opcode::LLVMExtractValue => {
                let start = member_start(instruction.operand(0).ty(), &indices(instruction));
                self.of(instruction.operand(0))[start..start + count].to_vec()
            }
            Opcode::LLVMInsertValue => {
                let mut shapes = self.of(instruction.operand(0));
                let start = member_start(instruction.ty(), &indices(instruction));
                for (offset, shape) in self.of(instruction.operand(1)).into_iter().enumerate() {
                    shapes[start + offset] = shape;
                }
                shapes
            }
            Opcode::LLVMCall => {
                let uniform = calls::is_uniform(instruction, || self.all_uniform(&instruction.arguments()));
                vec![self.uniform_if(uniform); count]
            }
            _ => self.pointwise(instruction),
        }
    }

    fn uniform_if(&self, uniform: bool) -> Shape {
        if uniform { Shape::UNIFORM } else { Shape::Varying }
    }

    /// Component by component: uniform when all operands are.
    fn pointwise(&self, instruction: Value) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        let operands: Vec<Vec<Shape>> =
            instruction.operands().into_iter().map(|operand| self.of(operand)).collect();
        if operands.iter().any(|operand| operand.len() != count) {
            let uniform = operands.iter().flatten().all(|shape| shape.is_uniform());
            return vec![self.uniform_if(uniform); count];
        }
        (0..count).map(|i| self.uniform_if(operands.iter().all(|operand| operand[i].is_uniform()))).collect()
    }

    fn arithmetic(&self, instruction: Value) -> Vec<Shape> {
        let opcode = instruction.opcode();
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        let no_wrap = match opcode {
            Opcode::LLVMOr => true,
            // `nuw` holds for the lanes that get here. The first one, where the ramp begins, may not be among them: in
            // `if (i >= n) { x[i - n] }` it is just the one that wraps.
            Opcode::LLVMSub => false,
            _ => unsafe { LLVMGetNUW(instruction.0) != 0 },
        };
        let disjoint = opcode != Opcode::LLVMOr || unsafe { LLVMGetIsDisjoint(instruction.0) != 0 };
        let one = |i: usize| -> Shape {
            let (Shape::Ramp(x), Shape::Ramp(y)) = (a[i], b[i]) else {
                return if a[i] == Shape::Varying || b[i] == Shape::Varying {
                    Shape::Varying
                } else {
                    Shape::Unknown
                };
            };
            let uniform = a[i].is_uniform() && b[i].is_uniform();
            if !disjoint && !uniform {
                return Shape::Varying;
            }
            let (exact, no_wrap) = (x.exact && y.exact, no_wrap && x.no_wrap && y.no_wrap);
            let by = element(right, i);
            let (stride, zeros) = match opcode {
                Opcode::LLVMAdd | Opcode::LLVMOr => (x.stride.checked_add(y.stride), x.zeros.min(y.zeros)),
                Opcode::LLVMSub => (x.stride.checked_sub(y.stride), x.zeros.min(y.zeros)),
                Opcode::LLVMMul => {
                    let stride = match (x.stride, y.stride) {
                        (0, 0) => Some(0),
                        (stride, 0) => by.and_then(|by| stride.checked_mul(by)),
                        (0, stride) => element(left, i).and_then(|by| stride.checked_mul(by)),
                        _ => None,
                    };
                    (stride, x.zeros.saturating_add(y.zeros))
                }
                _ => {
                    let by = by.and_then(|by| u32::try_from(by).ok()).filter(|&by| by < 32);
                    let stride = match (x.stride, y.stride) {
                        (0, 0) => Some(0),
                        (stride, 0) => by.and_then(|by| stride.checked_mul(1 << by)),
                        _ => None,
                    };
                    (stride, x.zeros.saturating_add(by.unwrap_or(0)))
                }
            };
            let zeros = zeros.min(ALL_BITS);
            stride.map_or(Shape::Varying, |stride| Shape::Ramp(Ramp::new(stride, exact, no_wrap, zeros)))
        };
        (0..a.len()).map(one).collect()
    }

    fn resize(&self, instruction: Value) -> Vec<Shape> {
        let widens_unsigned = instruction.opcode() == Opcode::LLVMZExt;
        let narrows = instruction.opcode() == Opcode::LLVMTrunc;
        let from_bool = instruction.operand(0).ty().scalar().int_bits() == 1;
        let to_bool = instruction.ty().scalar().int_bits() == 1;
        let one = |shape: Shape| match shape {
            shape if shape.is_uniform() => shape,
            Shape::Ramp(_) if from_bool || to_bool => Shape::Varying,
            Shape::Ramp(ramp) if widens_unsigned => {
                Shape::Ramp(Ramp::new(ramp.stride, ramp.exact && ramp.no_wrap, true, ramp.zeros))
            }
            Shape::Ramp(ramp) => {
                Shape::Ramp(Ramp::new(ramp.stride, ramp.exact, ramp.no_wrap && !narrows, ramp.zeros))
            }
            other => other,
        };
        self.of(instruction.operand(0)).into_iter().map(one).collect()
    }

    fn address(&self, instruction: Value) -> Shape {
        let operands = instruction.operands();
        let mut total = self.of(operands[0])[0];
        let mut stepped = instruction.source_element_type();
        for (position, &index) in operands[1..].iter().enumerate() {
            let shape = self.of(index)[0];
            let scale = if position == 0 {
                self.layout.size(stepped) as i64
            } else if let crate::ir::TypeKind::LLVMStructTypeKind = stepped.kind() {
                let member = index.as_int().unwrap_or(0) as usize;
                stepped = stepped.members()[member];
                continue;
            } else {
                stepped = stepped.element();
                self.layout.size(stepped) as i64
            };
            total = match (total, shape) {
                (Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
                (Shape::Ramp(a), Shape::Ramp(b)) => {
                    let stride = b.stride.checked_mul(scale).and_then(|step| a.stride.checked_add(step));
                    let ramp = |stride| Shape::Ramp(Ramp::new(stride, a.exact && b.exact, true, 0));
                    stride.map_or(Shape::Varying, ramp)
                }
                _ => Shape::Unknown,
            };
        }
        total
    }

    fn select(&self, instruction: Value) -> Vec<Shape> {
        let (condition, yes, no) =
            (self.of(instruction.operand(0)), self.of(instruction.operand(1)), self.of(instruction.operand(2)));
        (0..yes.len())
            .map(|i| {
                let condition = if condition.len() == 1 { condition[0] } else { condition[i] };
                if condition.is_uniform() { yes[i].join(no[i]) } else { Shape::Varying }
            })
            .collect()
    }

    fn phi(&self, instruction: Value, deferred: bool) -> Vec<Shape> {
        let count = components(instruction.ty()).len();
        let mut incoming: Vec<Value> = instruction.incoming().into_iter().map(|(value, _)| value).collect();
        incoming.retain(|value| !value.is_undef() && *value != instruction);
        // Lanes come to a deferred block at different times: even one value may have changed in between.
        let constant = incoming.iter().all(|value| *value == incoming[0] && !value.is_instruction());
        if deferred && !constant {
            return vec![Shape::Varying; count];
        }
        let start = vec![Shape::Unknown; count];
        incoming
            .into_iter()
            .fold(start, |all, value| all.into_iter().zip(self.of(value)).map(|(a, b)| a.join(b)).collect())
    }

    /// `tid & 31` is a ramp again and `tid >> 5` is the same in all lanes, when lane 0 is at a multiple of 32.
    fn low_or_high_bits(&self, instruction: Value) -> Vec<Shape> {
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        let is_and = instruction.opcode() == Opcode::LLVMAnd;
        let one = |i: usize| match (a[i], b[i]) {
            (Shape::Ramp(x), Shape::Ramp(y)) if a[i].is_uniform() && b[i].is_uniform() => {
                Shape::uniform(if is_and { x.zeros.max(y.zeros) } else { 0 })
            }
            (Shape::Ramp(x), Shape::Ramp(_)) if x.exact => {
                let by = element(right, i).and_then(|by| u64::try_from(by).ok()).unwrap_or(0);
                let bits = if is_and { by.trailing_ones() } else { by.min(ALL_BITS.into()) as u32 };
                let is_mask = !is_and || by.count_ones() == bits;
                match (is_mask && bits > 0, is_and) {
                    (true, true) if x.stays_within(bits.min(x.zeros)) => {
                        Shape::Ramp(Ramp::new(x.stride, true, true, x.zeros))
                    }
                    (true, false) if x.stays_within(bits) => Shape::UNIFORM,
                    _ => Shape::Varying,
                }
            }
            (Shape::Varying, _) | (_, Shape::Varying) | (Shape::Ramp(_), Shape::Ramp(_)) => Shape::Varying,
            _ => Shape::Unknown,
        };
        (0..a.len()).map(one).collect()
    }

    fn compare(&self, instruction: Value) -> Vec<Shape> {
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (a, b) = (self.of(left), self.of(right));
        if left.ty().scalar().is_pointer() {
            return self.pointwise(instruction);
        }
        let predicate = instruction.int_predicate();
        let one = |i: usize| {
            let uniform = a[i].is_uniform() && b[i].is_uniform();
            uniform || lanes_agree(predicate, a[i], b[i], element(right, i))
        };
        (0..a.len()).map(|i| self.uniform_if(one(i))).collect()
    }
}

/// Whether a comparison has one result for all lanes although its left side is a ramp: as `base + lane < n` has, when
/// both are multiples of 32. Then the bases compare as the lanes do.
fn lanes_agree(predicate: IntPredicate, left: Shape, right: Shape, constant: Option<i64>) -> bool {
    use IntPredicate::*;
    let (Shape::Ramp(x), Shape::Ramp(y)) = (left, right) else { return false };
    if !x.exact || !y.exact {
        return false;
    }
    if x.stride == y.stride && matches!(predicate, LLVMIntEQ | LLVMIntNE) {
        return true;
    }
    let zeros = match predicate {
        LLVMIntULT | LLVMIntUGE | LLVMIntSLT | LLVMIntSGE => y.zeros,
        // More than 31 is at least 32.
        LLVMIntUGT | LLVMIntULE | LLVMIntSGT | LLVMIntSLE => {
            constant.and_then(|value| value.checked_add(1)).map_or(0, i64::trailing_zeros)
        }
        _ => return false,
    };
    y.stride == 0 && x.stays_within(x.zeros.min(zeros))
}

/// Element `index` of an integer constant, or the constant itself.
fn element(value: Value, index: usize) -> Option<i64> {
    if value.ty().is_vector() { value.constant_element(index)?.as_int() } else { value.as_int() }
}

/// For each element of a shuffle's result the operand (0 or 1) and the component of it; `None` for anything.
pub(super) fn shuffle_pattern(instruction: Value) -> Vec<Option<(usize, usize)>> {
    let source = instruction.operand(0).ty();
    let (length, held) = (source.length(), types::vector_components(source));
    let count = unsafe { LLVMGetNumMaskElements(instruction.0) };
    (0..count.min(types::vector_components(instruction.ty()) as u32))
        .map(|i| {
            let pick = usize::try_from(unsafe { LLVMGetMaskValue(instruction.0, i) }).ok()?;
            let (side, at) = (pick / length, pick % length);
            (at < held).then_some((side, at))
        })
        .collect()
}

/// The indices of an extractvalue or insertvalue.
pub(super) fn indices(instruction: Value) -> Vec<u32> {
    unsafe {
        let count = LLVMGetNumIndices(instruction.0) as usize;
        std::slice::from_raw_parts(LLVMGetIndices(instruction.0), count).to_vec()
    }
}

/// The first component of a member of an aggregate.
pub(super) fn member_start(aggregate: Type, indices: &[u32]) -> usize {
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
