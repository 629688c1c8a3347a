//! Widening: the scalar function of one thread becomes a function of one simdgroup. Control flow is in this file, the
//! instructions are in `instructions`, `memory` and `calls`.

use super::byte_tiles::ByteTiles;
use super::entry::{Arguments, EntryBuilder};
use super::flow::Flow;
use super::graph::Graph;
use super::lanes::{Mask, any, lanes_of, mask_bits};
use super::parts::{Part, Parts};
use super::private::Private;
use super::shapes::Shapes;
use super::slots::{Slot, phis};
use super::streams::Streams;
use super::{Error, Result};
use crate::ir::{Block, Builder, IntPredicate, Layout, ModuleRef, Opcode, Type, Value};
use abi::Site;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Writes the function of a simdgroup for `kernel`, whose control flow is reducible and in loop-closed form, into
/// another module. It runs one simdgroup.
pub(super) fn widen<'m>(
    kernel: Value<'m>,
    arguments: &Arguments<'_, 'm>,
    into: ModuleRef<'m>,
) -> Result<(Value<'m>, Widened)> {
    let graph = Graph::new(kernel).ok_or_else(|| Error::Unsupported("a loop with two entries".into()))?;
    let layout = Layout::of(kernel.module().expect("a function is in a module"));
    let (shapes, flow) = Shapes::new(&graph, layout, arguments.shapes(kernel));
    let private = Private::new(&graph, layout);
    let builder = Builder::new(into);
    let entry = EntryBuilder::new(&builder, arguments);
    let mut widener = Widener::new(builder, &graph, &shapes, &flow, &private, layout, &entry);
    widener.sites = arguments.sites;
    if let Some(help) = arguments.stream_help {
        widener.streams = Streams::new(help, &graph, &shapes, layout);
    }
    if arguments.byte_tiles {
        widener.tiles = ByteTiles::new(&graph, &shapes, layout);
        widener.begin_tiles();
    }
    widener.arguments(kernel, arguments)?;
    widener.b.branch(widener.start(0, Version::Together));
    for block in 0..graph.len() {
        let version = if flow.is_complete(block) { Version::Together } else { Version::Masked };
        widener.block(block, version)?;
        if widener.together[block].is_some() {
            widener.block(block, Version::Together)?;
        }
    }
    widener.finish();
    let has_barrier = widener.has_barrier;
    if let Some(what) = widener.refused.into_inner() {
        return Err(Error::Unsupported(what));
    }
    Ok((entry.body, Widened { has_barrier, private_memory: private.bytes(), is_long: false }))
}

/// Properties of widened code.
pub(super) struct Widened {
    pub(super) has_barrier: bool,
    /// Bytes of private memory for all lanes.
    pub(super) private_memory: u64,
    /// It has too many blocks for LLVM's optimization.
    pub(super) is_long: bool,
}

pub(super) struct Widener<'a, 'm> {
    pub(super) b: Builder<'m>,
    pub(super) graph: &'a Graph<'m>,
    pub(super) shapes: &'a Shapes<'m>,
    pub(super) flow: &'a Flow,
    pub(super) private: &'a Private<'m>,
    pub(super) streams: Streams<'m>,
    pub(super) tiles: ByteTiles<'m>,
    pub(super) layout: Layout<'m>,
    pub(super) entry: &'a EntryBuilder<'m>,
    /// The lanes that run the current block; `None` for all 32.
    pub(super) mask: Option<Mask<'m>>,
    /// The memory of each private frame.
    pub(super) frames: Vec<Value<'m>>,
    pub(super) has_barrier: bool,
    /// Memory of values that are used in another block than their own. LLVM turns it into registers.
    pub(super) slots: FxHashMap<Value<'m>, Vec<Slot<'m>>>,
    /// Memory in which the values of phis gather while lanes come to their blocks at different times.
    pub(super) gathering: FxHashMap<Value<'m>, Vec<Slot<'m>>>,
    /// The values of the current block.
    pub(super) current: FxHashMap<Value<'m>, Parts<'m>>,
    pub(super) masks: Vec<Option<Value<'m>>>,
    /// The values of phis, by the blocks that they come from. A phi of a long switch has one for each case.
    arriving: FxHashMap<(Value<'m>, Block<'m>), Value<'m>>,
    starts: Vec<Block<'m>>,
    /// The start of the version of a block that all lanes run together, when there is another one.
    together: Vec<Option<Block<'m>>>,
    version: Version,
    /// The block that is being written, if blocks can be pending in this version of it.
    pending_in: Option<usize>,
    is_twice: bool,
    /// A constant or a function that is not supported, noted where no error can be returned.
    pub(super) refused: RefCell<Option<String>>,
    /// Constants of the kernel's module that have been copied.
    pub(super) globals: FxHashMap<Value<'m>, Value<'m>>,
    /// The places that checks refer to.
    pub(super) sites: &'a [Site],
}

/// The values that phis get on the way from one block to another.
type Incoming<'m> = Vec<(Value<'m>, Parts<'m>)>;

/// A block that runs under a mask is written twice where all 32 lanes exist: most of the time they go the same way, and
/// then their loads and stores need no mask. As soon as they part, the masked version goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Together,
    Masked,
}

/// The most instructions under masks for which code is written twice.
const TWICE_AT_MOST: usize = 4000;
/// Most loops in each other of which there are two versions. Lanes can part in each of them, so that every loop has phis for
/// the values of all those around it.
const TWICE_NESTED_AT_MOST: usize = 8;

impl<'a, 'm> Widener<'a, 'm> {
    fn new(
        b: Builder<'m>,
        graph: &'a Graph<'m>,
        shapes: &'a Shapes<'m>,
        flow: &'a Flow,
        private: &'a Private<'m>,
        layout: Layout<'m>,
        entry: &'a EntryBuilder<'m>,
    ) -> Widener<'a, 'm> {
        let phis = graph.blocks.iter().flat_map(|&block| phis(block));
        let arriving = |phi: Value<'m>| phi.incoming().into_iter().map(move |(value, from)| ((phi, from), value));
        let arriving = phis.flat_map(arriving).collect();
        let starts = (0..graph.len()).map(|i| Block::append(entry.body, &format!("b{i}"))).collect();
        let mut widener = Widener {
            b,
            graph,
            shapes,
            flow,
            private,
            streams: Streams::default(),
            tiles: ByteTiles::default(),
            layout,
            entry,
            mask: None,
            frames: Vec::new(),
            has_barrier: false,
            slots: FxHashMap::default(),
            gathering: FxHashMap::default(),
            current: FxHashMap::default(),
            masks: Vec::new(),
            arriving,
            starts,
            together: Vec::new(),
            version: Version::Together,
            pending_in: None,
            is_twice: false,
            refused: RefCell::default(),
            globals: FxHashMap::default(),
            sites: &[],
        };
        widener.b.at_end(entry.start);
        widener.make_slots();
        widener.make_second_versions();
        widener
    }

    /// Notes something that is not supported, and returns an undefined value in its place.
    pub(super) fn refuse(&self, what: &str, ty: Type<'m>) -> Value<'m> {
        *self.refused.borrow_mut() = Some(what.into());
        ty.poison()
    }

    fn make_second_versions(&mut self) {
        let masked = |&block: &usize| !self.flow.is_complete(block);
        let count: usize =
            (0..self.graph.len()).filter(masked).map(|block| self.graph.blocks[block].instructions().len()).sum();
        let nesting = (0..self.graph.len()).filter(masked).map(|block| self.graph.loops[block].len()).max();
        let is_small = count <= TWICE_AT_MOST && nesting.is_none_or(|loops| loops <= TWICE_NESTED_AT_MOST);
        // Code that calls the runtime for every access gains nothing.
        let is_twice = self.entry.mask.is_none() && is_small && !self.entry.every_access;
        let version = |block: usize| {
            (is_twice && masked(&block)).then(|| Block::append(self.entry.body, &format!("together{block}")))
        };
        self.together = (0..self.graph.len()).map(version).collect();
        self.is_twice = is_twice;
    }

    /// Gives the kernel's parameters their values.
    fn arguments(&mut self, kernel: Value<'m>, arguments: &Arguments<'_, 'm>) -> Result<()> {
        let values = self.entry.parameters(&self.b, kernel, arguments)?;
        self.mask = self.entry.mask;
        // Computed in the entry, they are there in every block.
        self.current.extend(values);
        Ok(())
    }

    /// Writes a block: under its mask, or for all lanes.
    fn block(&mut self, number: usize, version: Version) -> Result<()> {
        self.b.at_end(self.start(number, version));
        self.current.retain(|value, _| !value.is_instruction());
        self.mask = self.entry.mask;
        self.version = version;
        self.pending_in = (version == Version::Masked).then_some(number);
        if let Some(slot) = self.masks[number].filter(|_| version == Version::Masked) {
            self.enter_masked(number, slot);
        }
        for instruction in self.graph.blocks[number].instructions() {
            match instruction.opcode() {
                Opcode::LLVMPHI => self.collect(instruction),
                Opcode::LLVMBr => self.branch(number, instruction),
                Opcode::LLVMRet | Opcode::LLVMUnreachable => self.leave(number, &[]),
                _ => {
                    let parts = self.instruction(instruction)?;
                    self.define(instruction, parts);
                }
            }
        }
        Ok(())
    }

    /// Takes over the lanes that have come to a block, and skips it when there are none.
    fn enter_masked(&mut self, number: usize, slot: Value<'m>) {
        let bits = lanes_of(Type::int(self.b.context(), 1));
        let mask = self.b.load(bits, slot, 4);
        self.mask = Some(mask);
        if self.flow.deferred[number] {
            self.b.store(bits.zero(), slot, 4);
        }
        if self.flow.guarded[number] {
            self.forget(number);
            let [go, skip] = [0; 2].map(|_| Block::append(self.entry.body, ""));
            self.b.branch_if(any(&self.b, mask), go, skip);
            self.b.at_end(skip);
            self.leave(number, &[]);
            self.b.at_end(go);
        }
    }

    fn start(&self, number: usize, version: Version) -> Block<'m> {
        match version {
            Version::Together => self.together[number].unwrap_or(self.starts[number]),
            Version::Masked => self.starts[number],
        }
    }

    /// Makes the values of a block undefined before it may be skipped. Otherwise they would be alive, as far as LLVM can
    /// see, in all blocks before it, and their number would grow with the square of the blocks.
    fn forget(&self, number: usize) {
        for instruction in self.graph.blocks[number].instructions() {
            // A phi that does not gather has got its value already.
            if !instruction.is(Opcode::LLVMPHI) || self.gathering.contains_key(&instruction) {
                self.slots.get(&instruction).into_iter().flatten().for_each(|&slot| self.empty(slot));
            }
        }
    }

    /// True if lanes can be waiting in block `to` before the current block sends some there.
    fn can_wait_in(&self, to: usize) -> bool {
        self.pending_in.is_some_and(|block| self.flow.pending[block].contains(&to))
    }

    /// Goes on after a block whose lanes have gone to `next`. Masks and phis of blocks are defined only where lanes can be
    /// waiting in them: those of blocks that can be pending in the block that runs next, but not here, get their first
    /// values.
    fn leave(&mut self, number: usize, next: &[usize]) {
        // Nothing is pending while all lanes are together.
        let target = match (self.version, next) {
            (Version::Together, [next]) => Some(*next),
            (Version::Together, _) => None,
            (Version::Masked, next) => self.flow.follow(number, next),
        };
        let Some(target) = target else { return self.b.branch(self.entry.end) };
        let start = self.start(target, self.version);
        if start == self.starts[target] {
            let pending = self.flow.pending[target].iter().chain([&target]);
            for &block in pending.filter(|&block| !next.contains(block) && !self.can_wait_in(*block)) {
                self.empty_block(block);
            }
        }
        self.b.branch(start);
    }

    /// No lanes wait in a block.
    fn empty_block(&self, number: usize) {
        if let Some(slot) = self.masks[number] {
            self.b.store(lanes_of(Type::int(self.b.context(), 1)).zero(), slot, 4);
        }
        for phi in phis(self.graph.blocks[number]) {
            self.gathering.get(&phi).into_iter().flatten().for_each(|&slot| self.empty(slot));
        }
    }

    fn branch(&mut self, number: usize, branch: Value<'m>) {
        let next = self.graph.successors[number].clone();
        let (Some(condition), [yes, no]) = (branch.condition(), &next[..]) else {
            let values = self.incoming(number, next[0]);
            return self.go(number, next[0], &values);
        };
        // Read before the branch, so that they are there on both sides.
        let sides = [(*yes, self.incoming(number, *yes)), (*no, self.incoming(number, *no))];
        if yes == no {
            return self.go(number, *yes, &sides[0].1);
        }
        match self.get(condition)[0] {
            Part::Uniform(condition) => {
                let blocks = [Block::append(self.entry.body, ""), Block::append(self.entry.body, "")];
                self.b.branch_if(condition, blocks[0], blocks[1]);
                for (block, (to, values)) in blocks.into_iter().zip(&sides) {
                    self.b.at_end(block);
                    self.go(number, *to, values);
                }
            }
            part => {
                let condition = part.lanes(&self.b);
                if self.version == Version::Together && self.is_twice {
                    self.stay_together(number, condition, &sides);
                }
                self.version = Version::Masked;
                self.part(number, condition, &sides);
            }
        }
    }

    /// If all lanes turn out to go one way, they go that way together. The code after this is for lanes that part.
    fn stay_together(&mut self, number: usize, condition: Value<'m>, sides: &[(usize, Incoming<'m>); 2]) {
        let bits = mask_bits(&self.b, condition);
        for (all, (to, values)) in [bits.ty().all_ones(), bits.ty().zero()].into_iter().zip(sides) {
            let [agree, differ] = [0; 2].map(|_| Block::append(self.entry.body, ""));
            self.b.branch_if(self.b.icmp(IntPredicate::LLVMIntEQ, bits, all), agree, differ);
            self.b.at_end(agree);
            self.go(number, *to, values);
            self.b.at_end(differ);
        }
    }

    /// The lanes go both ways, one after the other.
    fn part(&mut self, number: usize, condition: Value<'m>, sides: &[(usize, Incoming<'m>); 2]) {
        // The condition of an inactive lane may be undefined: a select, never an `and`.
        let none = condition.ty().zero();
        let here = self.mask.unwrap_or_else(|| condition.ty().all_ones());
        let taken = self.b.select(here, condition, none);
        let not_taken = self.b.select(here, self.b.not(condition), none);
        self.edge(sides[0].0, &sides[0].1, Some(taken));
        self.edge(sides[1].0, &sides[1].1, Some(not_taken));
        self.leave(number, &[sides[0].0, sides[1].0]);
    }

    /// All lanes of block `from` go on to block `to`.
    fn go(&mut self, from: usize, to: usize, values: &Incoming<'m>) {
        self.edge(to, values, self.mask);
        self.leave(from, &[to]);
    }

    /// The values that the phis of block `to` get from block `from`.
    fn incoming(&mut self, from: usize, to: usize) -> Incoming<'m> {
        let from = self.graph.blocks[from];
        phis(self.graph.blocks[to])
            .into_iter()
            .filter_map(|phi| {
                let value = *self.arriving.get(&(phi, from))?;
                Some((phi, self.get(value)))
            })
            .collect()
    }

    /// The lanes in `mask` go to block `to`: its phis get their values.
    fn edge(&mut self, to: usize, values: &Incoming<'m>, mask: Option<Mask<'m>>) {
        let bits = lanes_of(Type::int(self.b.context(), 1));
        let lanes = mask.unwrap_or_else(|| bits.all_ones());
        let gathers = self.can_wait_in(to);
        for (phi, parts) in values {
            let slots = self.gathering.get(phi).unwrap_or_else(|| &self.slots[phi]);
            for (slot, part) in slots.iter().zip(parts) {
                match *slot {
                    Slot::Lanes(slot) if gathers && mask.is_some() => {
                        let new = part.lanes(&self.b);
                        let old = self.b.load(new.ty(), slot, 64);
                        self.b.store(self.b.select(lanes, new, old), slot, 64);
                    }
                    slot => self.put(slot, *part),
                }
            }
        }
        if let Some(slot) =
            self.masks[to].filter(|_| self.version == Version::Masked || self.together[to].is_none())
        {
            let lanes = if gathers { self.b.or(self.b.load(bits, slot, 4), lanes) } else { lanes };
            self.b.store(lanes, slot, 4);
        }
    }

    fn finish(&mut self) {
        self.b.at_end(self.entry.end);
        self.end_tiles();
        self.b.ret();
    }
}
