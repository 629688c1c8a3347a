//! Streams: loads that walk through memory, whose address advances by a constant from one round of a loop to the next.
//! Their cache lines are asked for some rounds before they are needed, or the loads stay in the order of the program,
//! which the prefetcher of some CPUs needs to follow them.
//!
//! A CPU looks ahead by as many instructions as it can hold back, and its prefetcher follows streams up to the end of a
//! page. A loop that computes much for each line, as products with quantized weights do, fills the former before the
//! next line but one, so that memory and arithmetic take turns. Loops that compute little are left alone: there, the CPU
//! is far enough ahead.
//!
//! The step is that of the innermost loop or of a loop around it, so that a stream continues where a short inner loop
//! ends: the farther loop whose step is still near. All of this is a hint. Numbers that wrap around, and rounds that do
//! not come, cost a line that nobody reads; a prefetch beyond the end of a buffer does nothing.

use super::graph::Graph;
use super::parts::Part;
use super::shapes::{Shape, Shapes};
use super::widen::Widener;
use crate::ir::{Block, Layout, Opcode, Type, TypeKind, Value};
use abi::LANES;
use rustc_hash::FxHashMap;

/// Bytes between a load and the line that is asked for beside it, at least: what memory delivers to a core in the time
/// that it takes to answer.
const AHEAD: u64 = 4096;

/// The largest step, in bytes, that counts as walking through memory: a tile of blocks of Q6_K has 6,720.
const WIDEST_STEP: u64 = 8192;

/// Instructions on all lanes for each line from which on a loop gets prefetches. A sum of numbers has one.
const LEAST_WORK: usize = 4;

/// Bytes of a cache line.
const LINE: u64 = 64;

/// Address spaces of buffers.
const BUFFERS: [u32; 2] = [1, 2];

/// The bytes of a round from which on its loads stay in order. The lines of shorter ones are close together in any order.
const LONG_ROUND: u64 = 2048;

/// Help for a CPU to follow streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StreamHelp {
    /// Instructions that ask for lines ahead.
    Prefetch,
    /// Loads in the order of the program, in long rounds.
    Order,
}

/// The streams of a kernel.
#[derive(Default)]
pub(super) struct Streams<'m> {
    help: Option<StreamHelp>,
    loads: FxHashMap<Value<'m>, Stream>,
}

/// A load of a stream.
#[derive(Clone, Copy)]
struct Stream {
    /// Bytes from one round to the next.
    step: i64,
    /// Lines that all lanes read together.
    lines: usize,
}

impl Stream {
    /// Distance of the lines to ask for, in bytes.
    fn ahead(self) -> i64 {
        AHEAD.div_ceil(self.step.unsigned_abs()) as i64 * self.step
    }
}

impl<'m> Streams<'m> {
    pub(super) fn new(help: StreamHelp, graph: &Graph<'m>, shapes: &Shapes<'m>, layout: Layout<'m>) -> Streams<'m> {
        let numbers = graph.blocks.iter().enumerate().map(|(number, block)| (*block, number)).collect();
        let mut steps = Steps { graph, layout, numbers, known: FxHashMap::default() };
        let mut found = Vec::new();
        let mut work: FxHashMap<usize, Work> = FxHashMap::default();
        for (block, loops) in graph.blocks.iter().zip(&graph.loops).filter(|(_, loops)| !loops.is_empty()) {
            let instructions = block.instructions();
            let wide = instructions.iter().filter(|instruction| is_wide(**instruction, shapes)).count();
            let mut lines = 0;
            for load in instructions.iter().copied().filter(|instruction| instruction.is(Opcode::LLVMLoad)) {
                let stream = stream_lines(load, shapes, layout)
                    .and_then(|lines| Some(Stream { step: steps.of_stream(load.operand(0), loops)?, lines }));
                if let (Some(stream), Some(&innermost)) = (stream, loops.last()) {
                    found.push((innermost, load, stream));
                    lines += stream.lines;
                }
            }
            for &header in loops {
                let work = work.entry(header).or_default();
                work.instructions += wide;
                work.lines += lines;
            }
        }
        found.retain(|(innermost, ..)| work[innermost].is_slower_than_memory());
        Streams { help: Some(help), loads: found.into_iter().map(|(_, load, stream)| (load, stream)).collect() }
    }

    /// True if a load must stay behind those before it.
    pub(super) fn keeps_order_of(&self, load: Value<'m>) -> bool {
        self.help == Some(StreamHelp::Order)
            && self.loads.get(&load).is_some_and(|stream| stream.step.unsigned_abs() >= LONG_ROUND)
    }
}

/// True if an instruction works on all lanes.
fn is_wide<'m>(instruction: Value<'m>, shapes: &Shapes<'m>) -> bool {
    !instruction.ty().is_void() && shapes.of(instruction).iter().any(|shape| !shape.is_uniform())
}

/// One round of a loop, with those within it counted once.
#[derive(Default)]
struct Work {
    /// Instructions that work on all lanes.
    instructions: usize,
    /// Cache lines of streams.
    lines: usize,
}

impl Work {
    fn is_slower_than_memory(&self) -> bool {
        self.instructions >= LEAST_WORK * self.lines
    }
}

impl<'m> Widener<'_, 'm> {
    /// Asks for the lines that `load`, whose lanes read from `pointer` on, will read some rounds later, if it belongs to
    /// a stream.
    pub(super) fn prefetch(&self, load: Value<'m>, pointer: Part<'m>) {
        let stream = self.streams.loads.get(&load).filter(|_| self.streams.help == Some(StreamHelp::Prefetch));
        let (Some(stream), Some(base)) = (stream, pointer.base()) else { return };
        let (number, offset) = (Type::int(self.b.context(), 32), Type::int(self.b.context(), 64));
        let [read, nearest, data] = [0, 3, 1].map(|value| number.constant(value));
        for line in 0..stream.lines {
            let at = self.b.offset(base, offset.constant(stream.ahead() + line as i64 * LINE as i64));
            self.b.intrinsic("llvm.prefetch", &[at.ty()], &[at, read, nearest, data]);
        }
    }
}

/// The number of lines that the lanes read together, if they read a buffer side by side.
fn stream_lines<'m>(load: Value<'m>, shapes: &Shapes<'m>, layout: Layout<'m>) -> Option<usize> {
    let pointer = load.operand(0);
    if !BUFFERS.contains(&pointer.ty().address_space()) || load.is_volatile() {
        return None;
    }
    let Shape::Ramp(ramp) = shapes.of(pointer).first().copied()? else { return None };
    let (stride, each) = (u64::try_from(ramp.stride).ok()?, layout.size(load.ty()));
    // Lanes that leave gaps larger than what they read lie in too many lines.
    (1..=2 * each).contains(&stride).then(|| (stride * LANES as u64 / LINE) as usize).filter(|&lines| lines > 0)
}

/// Steps of values from one round of a loop to the next.
struct Steps<'a, 'm> {
    graph: &'a Graph<'m>,
    layout: Layout<'m>,
    numbers: FxHashMap<Block<'m>, usize>,
    known: FxHashMap<(Value<'m>, usize), Option<i64>>,
}

/// The longest chain of instructions that is followed.
const DEEPEST: usize = 100;

impl<'m> Steps<'_, 'm> {
    /// The step of a stream's address in these loops, the innermost last.
    fn of_stream(&mut self, pointer: Value<'m>, loops: &[usize]) -> Option<i64> {
        let mut chosen: Option<i64> = None;
        for &header in loops.iter().rev() {
            match (self.step(pointer, header, 0), chosen) {
                // A short loop may go to and fro within a block that the loop around it walks over.
                (None, None) => {}
                (Some(step), None) if (LINE..=WIDEST_STEP).contains(&step.unsigned_abs()) => chosen = Some(step),
                (Some(step), Some(inner))
                    if step.unsigned_abs() <= AHEAD
                        && step.signum() == inner.signum()
                        && step.abs() > inner.abs() =>
                {
                    chosen = Some(step);
                }
                _ => break,
            }
        }
        chosen
    }

    /// The step of a value in the loop that begins at the block `header`; `None` if it is none or not constant.
    fn step(&mut self, value: Value<'m>, header: usize, depth: usize) -> Option<i64> {
        if !value.is_instruction() {
            return Some(0);
        }
        let block = *self.numbers.get(&value.block())?;
        if !self.graph.loops[block].contains(&header) {
            return Some(0);
        }
        if let Some(known) = self.known.get(&(value, header)) {
            return *known;
        }
        let step = if depth < DEEPEST { self.step_within(value, block, header, depth + 1) } else { None };
        self.known.insert((value, header), step);
        step
    }

    fn step_within(&mut self, value: Value<'m>, block: usize, header: usize, depth: usize) -> Option<i64> {
        let mut operand = |index: usize| self.step(value.operand(index), header, depth);
        match value.opcode() {
            Opcode::LLVMPHI => self.step_of_phi(value, block, header, depth),
            Opcode::LLVMGetElementPtr => self.step_of_address(value, header, depth),
            Opcode::LLVMAdd | Opcode::LLVMOr => operand(0)?.checked_add(operand(1)?),
            Opcode::LLVMSub => operand(0)?.checked_sub(operand(1)?),
            Opcode::LLVMMul => match (operand(0)?, operand(1)?, value.operand(1).as_int()) {
                (0, 0, _) => Some(0),
                (step, 0, Some(factor)) => step.checked_mul(factor),
                _ => None,
            },
            Opcode::LLVMShl => shifted(operand(0)?, value.operand(1).as_int(), i64::checked_mul),
            Opcode::LLVMLShr | Opcode::LLVMAShr => {
                shifted(operand(0)?, value.operand(1).as_int(), |step, divisor| {
                    (step % divisor == 0).then(|| step / divisor)
                })
            }
            // A mask that clears low bits which the steps do not reach.
            Opcode::LLVMAnd => {
                let (step, mask) = (operand(0)?, value.operand(1).as_int()?);
                let lowest = 1i64.checked_shl(mask.trailing_zeros())?;
                (step == 0 || (mask.checked_add(lowest) == Some(0) && step % lowest == 0)).then_some(step)
            }
            Opcode::LLVMZExt | Opcode::LLVMSExt | Opcode::LLVMTrunc | Opcode::LLVMFreeze => operand(0),
            _ => None,
        }
    }

    /// A counter of the loop itself, a counter of a loop within it, which begins anew in each round, or a value that
    /// leaves a loop.
    fn step_of_phi(&mut self, phi: Value<'m>, block: usize, header: usize, depth: usize) -> Option<i64> {
        let incoming = phi.incoming();
        if let [(value, _)] = &incoming[..] {
            return self.step(*value, header, depth);
        }
        if !self.graph.loops[block].contains(&block) {
            return None;
        }
        let comes_back =
            |from: &Block<'m>| self.numbers.get(from).is_some_and(|&from| self.graph.loops[from].contains(&block));
        let (back, outside): (Vec<_>, Vec<_>) = incoming.iter().partition(|(_, from)| comes_back(from));
        let ([(next, _)], [(start, _)]) = (&back[..], &outside[..]) else { return None };
        let own = self.increment(*next, phi)?;
        if block == header { Some(own) } else { self.step(*start, header, depth) }
    }

    /// The constant that `next` is larger than `phi`.
    fn increment(&self, mut next: Value<'m>, phi: Value<'m>) -> Option<i64> {
        let mut total = 0i64;
        for _ in 0..DEEPEST {
            if next == phi {
                return Some(total);
            }
            if !next.is_instruction() {
                return None;
            }
            let constant = match next.opcode() {
                Opcode::LLVMAdd => next.operand(1).as_int()?,
                Opcode::LLVMGetElementPtr if next.operand_count() == 2 => {
                    next.operand(1).as_int()?.checked_mul(self.layout.size(next.source_element_type()) as i64)?
                }
                _ => return None,
            };
            total = total.checked_add(constant)?;
            next = next.operand(0);
        }
        None
    }

    fn step_of_address(&mut self, address: Value<'m>, header: usize, depth: usize) -> Option<i64> {
        let operands = address.operands();
        let mut total = self.step(operands[0], header, depth)?;
        let mut stepped = address.source_element_type();
        for (position, &index) in operands[1..].iter().enumerate() {
            if position > 0 && stepped.kind() == TypeKind::LLVMStructTypeKind {
                stepped = stepped.members()[index.as_int()? as usize];
                continue;
            }
            if position > 0 {
                stepped = stepped.element();
            }
            let size = self.layout.size(stepped) as i64;
            total = total.checked_add(self.step(index, header, depth)?.checked_mul(size)?)?;
        }
        Some(total)
    }
}

/// A step times or by a power of two.
fn shifted(step: i64, bits: Option<i64>, apply: impl Fn(i64, i64) -> Option<i64>) -> Option<i64> {
    match (step, bits) {
        (0, _) => Some(0),
        (step, Some(bits @ 0..62)) => apply(step, 1 << bits),
        _ => None,
    }
}
