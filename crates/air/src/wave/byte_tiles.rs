//! Products of matrices of bytes and of `bfloat`, by AMX: tiles of 16 rows, in registers of the CPU that nothing else
//! uses.
//!
//! ```text
//! sum₀ = dot(w₀, x₀₀, dot(w₁, x₀₁, …, start₀))     x: the same for all lanes, words side by side in memory
//! sum₁ = dot(w₀, x₁₀, dot(w₁, x₁₁, …, start₁))     w: one word for each lane
//! ⋮                                                rows of x at equal distances
//!
//! [sum] − [start]  =  X · W,   X: rows × words,   W: words × 16 lanes,   twice
//! ```
//!
//! A word has four bytes or two `bfloat`. The chains of a block that multiply the same words w are one product. It is
//! computed where the first chain ends, because w is complete there; the others end with a load of their row. A chain of
//! more words than a tile has is one of several products, each of which begins with the result of the one before. A chain
//! alone, and rows at other distances, stay sums of `byte_products`.
//!
//! X is read where it lies. W and the result go through memory: tiles cannot be read or written in any other way.
//!
//! All products of a kernel have one shape, so that tiles are configured once, at its start. Kernels with barriers are
//! left alone: there, the simdgroups of a threadgroup take turns on one CPU, and each would have to configure tiles
//! again.

use super::byte_products::join;
use super::graph::Graph;
use super::parts::{Part, Parts};
use super::shapes::Shapes;
use super::widen::Widener;
use crate::bytes::Dot;
use crate::ir::{Address, Block, Builder, Layout, Opcode, Type, Value};
use abi::LANES;
use rustc_hash::{FxHashMap, FxHashSet};

/// Rows of a tile, and bytes of a row.
const MOST_ROWS: usize = 16;
const ROW: usize = 64;

/// Lanes in a row of words.
const LANES_OF_ROW: usize = ROW / 4;

/// Chains and words from which on a product is worth the way through memory.
const LEAST_ROWS: usize = 8;
const LEAST_WORDS: usize = 8;

/// Address spaces of X: those of buffers and of threadgroup memory.
const SHARED: [u32; 3] = [1, 2, 3];

/// Numbers of tiles: the results and W of the lower and the upper lanes, and X.
const RESULTS: [i64; 2] = [0, 1];
const WORDS: [i64; 2] = [2, 3];
const NUMBERS: i64 = 4;

/// The products of a kernel.
#[derive(Default)]
pub(super) struct ByteTiles<'m> {
    products: Vec<TileProduct<'m>>,
    steps: FxHashMap<Value<'m>, Step<'m>>,
}

/// One product.
struct TileProduct<'m> {
    instruction: &'static str,
    /// W, one word for each lane.
    words: Vec<Value<'m>>,
    rows: usize,
    /// Bytes between two rows of X.
    stride: i64,
    /// Memory for W and the result.
    memory: Option<[Value<'m>; 2]>,
}

/// The meaning of a sum in a chain.
#[derive(Clone, Copy)]
enum Step<'m> {
    /// The chain goes on: nobody needs the sum.
    Inner,
    /// It ends the chain of a row.
    Last(ChainEnd<'m>),
}

/// The end of a chain.
#[derive(Clone, Copy)]
struct ChainEnd<'m> {
    product: usize,
    row: usize,
    /// The chain is the first one that ends: there, all rows are computed.
    is_first: bool,
    /// The first word of the row in memory.
    pointer: Value<'m>,
    start: Value<'m>,
}

/// A chain of sums.
struct Chain<'m> {
    kind: ChainKind<'m>,
    /// Offset of the row, in bytes.
    offset: i64,
    /// The first word of the row in memory.
    pointer: Value<'m>,
    /// The loads of the row.
    loads: Vec<Value<'m>>,
    /// Its sums, the last one first.
    calls: Vec<Value<'m>>,
    start: Value<'m>,
}

/// The properties that the chains of a product share.
#[derive(PartialEq)]
struct ChainKind<'m> {
    instruction: &'static str,
    words: Vec<Value<'m>>,
    base: Value<'m>,
    terms: Vec<(Value<'m>, i64)>,
}

impl<'m> ByteTiles<'m> {
    /// Finds the products of a kernel.
    pub(super) fn new(graph: &Graph<'m>, shapes: &Shapes<'m>, layout: Layout<'m>) -> ByteTiles<'m> {
        let mut tiles = ByteTiles::default();
        let has_barrier = |block: &Block<'m>| block.instructions().into_iter().any(is_barrier);
        if !graph.blocks.iter().any(has_barrier) {
            graph.blocks.iter().for_each(|block| tiles.find(*block, shapes, layout));
        }
        tiles
    }

    fn find(&mut self, block: Block<'m>, shapes: &Shapes<'m>, layout: Layout<'m>) {
        let instructions = block.instructions();
        let ends = instructions.iter().copied().filter(|&call| dot_of(call).is_some() && next(call).is_none());
        let mut groups: Vec<Vec<Chain<'m>>> = Vec::new();
        for chain in ends.flat_map(|end| chains(end, shapes, layout)) {
            match groups.iter_mut().find(|group| group[0].kind == chain.kind) {
                Some(group) => group.push(chain),
                None => groups.push(vec![chain]),
            }
        }
        let places: FxHashMap<Value<'m>, usize> = instructions.iter().copied().zip(0..).collect();
        for mut group in groups {
            group.sort_by_key(|chain| places[&chain.calls[0]]);
            if !writes_between(&instructions, &group) {
                self.add(group);
            }
        }
    }

    /// Adds a product, given its chains in the order of their ends, if they are rows at equal distances.
    fn add(&mut self, chains: Vec<Chain<'m>>) {
        let mut offsets: Vec<i64> = chains.iter().map(|chain| chain.offset).collect();
        offsets.sort_unstable();
        let (rows, words) = (chains.len(), chains[0].kind.words.len());
        if !(LEAST_ROWS..=MOST_ROWS).contains(&rows) {
            return;
        }
        let (first, stride) = (offsets[0], offsets[1] - offsets[0]);
        let is_even = (0i64..).zip(&offsets).all(|(row, offset)| offset - first == row * stride);
        let has_shape = self.products.first().is_none_or(|other| (other.rows, other.words.len()) == (rows, words));
        if stride == 0 || !is_even || !has_shape {
            return;
        }
        let product = self.products.len();
        for (number, chain) in chains.iter().enumerate() {
            let row = ((chain.offset - first) / stride) as usize;
            self.steps.extend(chain.calls.iter().map(|call| (*call, Step::Inner)));
            let (pointer, start) = (chain.pointer, chain.start);
            let end = ChainEnd { product, row, is_first: number == 0, pointer, start };
            self.steps.insert(chain.calls[0], Step::Last(end));
        }
        let kind = &chains[0].kind;
        let (instruction, words) = (kind.instruction, kind.words.clone());
        self.products.push(TileProduct { instruction, words, rows, stride, memory: None });
    }
}

fn is_barrier(instruction: Value) -> bool {
    instruction.is(Opcode::LLVMCall) && instruction.callee().is_some_and(|callee| callee.name() == "air.wg.barrier")
}

fn dot_of(instruction: Value) -> Option<Dot> {
    let callee = instruction.is(Opcode::LLVMCall).then(|| instruction.callee()).flatten()?;
    Dot::named(&callee.name())
}

/// The sum that a sum is only a part of.
fn next<'m>(call: Value<'m>) -> Option<Value<'m>> {
    let [user] = call.users()[..] else { return None };
    let is_next = || user.block() == call.block() && dot_of(user) == dot_of(call) && user.arguments()[2] == call;
    (dot_of(user).is_some() && is_next()).then_some(user)
}

/// The chains that end with a sum, each of which is one row of a product: a row of words in memory, which all lanes share,
/// by words of each lane.
fn chains<'m>(end: Value<'m>, shapes: &Shapes<'m>, layout: Layout<'m>) -> Vec<Chain<'m>> {
    let mut calls = vec![end];
    let mut start = end.arguments()[2];
    while start.is_instruction() && dot_of(start).is_some() && next(start) == calls.last().copied() {
        calls.push(start);
        start = start.arguments()[2];
    }
    // From the first sum on, so that the last piece is the short one.
    let pieces = calls.rchunks(MOST_ROWS).filter(|calls| calls.len() >= LEAST_WORDS);
    pieces.filter_map(|calls| chain(calls, shapes, layout)).collect()
}

/// A chain of these sums, the last one first.
fn chain<'m>(calls: &[Value<'m>], shapes: &Shapes<'m>, layout: Layout<'m>) -> Option<Chain<'m>> {
    let (end, dot) = (calls[0], dot_of(calls[0])?);
    let is_uniform = |value: Value<'m>| shapes.of(value).iter().all(|shape| shape.is_uniform());
    let side = usize::from(is_uniform(end.arguments()[0]));
    // AMX names the sign of X first.
    let instruction = match (dot, side) {
        (Dot::Bfloats, _) => "llvm.x86.tdpbf16ps",
        (Dot::Signed, _) => "llvm.x86.tdpbssd",
        (_, 0) => "llvm.x86.tdpbsud",
        (_, _) => "llvm.x86.tdpbusd",
    };
    let mut links = Vec::new();
    for call in calls {
        let arguments = call.arguments();
        let (word, shared) = (arguments[side], arguments[1 - side]);
        if is_uniform(word) || !is_uniform(shared) || !is_plain_load(shared) || shared.block() != end.block() {
            return None;
        }
        let pointer = shared.operand(0);
        links.push((Address::of(pointer, layout)?, pointer, word, shared));
    }
    links.sort_by_key(|(address, ..)| address.offset);
    let (first, pointer) = (&links[0].0, links[0].1);
    let is_row = (0i64..).zip(&links).all(|(i, (address, ..))| {
        address.base == first.base && address.terms == first.terms && address.offset == first.offset + 4 * i
    });
    let words = links.iter().map(|(.., word, _)| *word).collect();
    let kind = ChainKind { instruction, words, base: first.base, terms: first.terms.clone() };
    let loads = links.iter().map(|(.., load)| *load).collect();
    let start = calls.last()?.arguments()[2];
    is_row.then(|| Chain { kind, offset: links[0].0.offset, pointer, loads, calls: calls.to_vec(), start })
}

/// True for a load of a word from memory that lanes share.
fn is_plain_load(value: Value) -> bool {
    value.is(Opcode::LLVMLoad)
        && !value.is_volatile()
        && !value.is_atomic()
        && value.ty().is_int()
        && value.ty().int_bits() == 32
        && SHARED.contains(&value.operand(0).ty().address_space())
}

/// True if an instruction between the loads and sums of the chains may write memory: then their rows cannot be read
/// together.
fn writes_between<'m>(instructions: &[Value<'m>], chains: &[Chain<'m>]) -> bool {
    let parts: FxHashSet<Value<'m>> =
        chains.iter().flat_map(|chain| chain.calls.iter().chain(&chain.loads)).copied().collect();
    let is_part = |instruction: &Value<'m>| parts.contains(instruction);
    let (Some(first), Some(last)) = (instructions.iter().position(is_part), instructions.iter().rposition(is_part))
    else {
        return true;
    };
    instructions[first..=last].iter().any(|&instruction| match instruction.opcode() {
        Opcode::LLVMCall => {
            let name = instruction.callee().map(Value::name).unwrap_or_default();
            dot_of(instruction).is_none() && (!name.starts_with("llvm.") || name.starts_with("llvm.mem"))
        }
        Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg | Opcode::LLVMFence => true,
        _ => false,
    })
}

impl<'m> Widener<'_, 'm> {
    /// Reserves memory for products, and configures tiles. At the start of the function.
    pub(super) fn begin_tiles(&mut self) {
        let Some(first) = self.tiles.products.first() else { return };
        let (rows, words) = (first.rows, first.words.len());
        let byte = Type::int(self.b.context(), 8);
        let room = |b: &Builder<'m>, rows: usize| b.alloca(byte.array((2 * rows * ROW) as u64), ROW as u32);
        for product in &mut self.tiles.products {
            product.memory = Some([room(&self.b, words), room(&self.b, rows)]);
        }
        let b = &self.b;
        let configuration = b.alloca(byte.array(ROW as u64), ROW as u32);
        let bytes: Vec<Value<'m>> =
            configuration_bytes(rows, words).iter().map(|&value| byte.constant(i64::from(value))).collect();
        b.store(Value::constant_vector(&bytes), configuration, ROW as u32);
        b.intrinsic("llvm.x86.ldtilecfg", &[], &[configuration]);
    }

    /// Gives the tiles back. At the end of the function: a thread with tiles costs more to switch.
    pub(super) fn end_tiles(&self) {
        if !self.tiles.products.is_empty() {
            self.b.intrinsic("llvm.x86.tilerelease", &[], &[]);
        }
    }

    /// A sum that is part of a product.
    pub(super) fn tile_sum(&mut self, call: Value<'m>) -> Option<Parts<'m>> {
        let end = match *self.tiles.steps.get(&call)? {
            Step::Inner => return Some(vec![Part::Lanes(call.ty().vector(LANES).poison())]),
            Step::Last(end) => end,
        };
        if end.is_first {
            self.tile_product(end);
        }
        let start = self.get(end.start)[0].lanes(&self.b);
        let b = &self.b;
        let TileProduct { rows, memory, .. } = &self.tiles.products[end.product];
        let [_, results] = (*memory)?;
        let half = |half: usize| {
            let at = Type::int(b.context(), 64).constant(((half * rows + end.row) * ROW) as i64);
            b.load(call.ty().vector(LANES_OF_ROW), b.offset(results, at), ROW as u32)
        };
        let product = join(b, half(0), half(1));
        let sum =
            if call.ty().is_float() { b.binary(Opcode::LLVMFAdd, start, product) } else { b.add(start, product) };
        Some(vec![Part::Lanes(sum)])
    }

    /// Computes a product.
    fn tile_product(&mut self, end: ChainEnd<'m>) {
        let words = self.tiles.products[end.product].words.clone();
        let words: Vec<Value<'m>> = words.into_iter().map(|word| self.get(word)[0].lanes(&self.b)).collect();
        let pointer = self.get(end.pointer)[0];
        let b = &self.b;
        let TileProduct { instruction, rows, stride, memory, .. } = &self.tiles.products[end.product];
        let (Some([inputs, results]), Some(pointer)) = (*memory, pointer.base()) else { return };
        let wide = Type::int(b.context(), 64);
        let tile = |number: i64| Type::int(b.context(), 8).constant(number);
        let at = |memory: Value<'m>, row: usize| b.offset(memory, wide.constant((row * ROW) as i64));
        for (number, word) in words.iter().enumerate() {
            for half in 0..2 {
                let lanes: Vec<i32> = (0..LANES_OF_ROW).map(|lane| (half * LANES_OF_ROW + lane) as i32).collect();
                let part = b.shuffle(*word, word.ty().poison(), &lanes);
                b.store(part, at(inputs, half * words.len() + number), ROW as u32);
            }
        }
        let step = wide.constant(ROW as i64);
        let first = b.offset(pointer, wide.constant(-(end.row as i64) * stride));
        b.intrinsic("llvm.x86.tileloadd64", &[], &[tile(NUMBERS), first, wide.constant(*stride)]);
        for (half, (result, weights)) in RESULTS.into_iter().zip(WORDS).enumerate() {
            let (result, weights) = (tile(result), tile(weights));
            b.intrinsic("llvm.x86.tileloadd64", &[], &[weights, at(inputs, half * words.len()), step]);
            b.intrinsic("llvm.x86.tilezero", &[], &[result]);
            b.intrinsic(instruction, &[], &[result, tile(NUMBERS), weights]);
        }
        for (half, result) in RESULTS.into_iter().enumerate() {
            b.intrinsic("llvm.x86.tilestored64", &[], &[tile(result), at(results, half * rows), step]);
        }
    }
}

/// The configuration of tiles for products of rows of `words` words, as the CPU reads it.
fn configuration_bytes(rows: usize, words: usize) -> [u8; ROW] {
    // After the palette and the row to begin at: bytes of a row for each tile, from byte 16 on, then rows.
    const BYTES: usize = 16;
    const ROWS: usize = 48;
    let mut bytes = [0; ROW];
    bytes[0] = 1;
    let mut set = |tile: i64, rows: usize, length: usize| {
        bytes[BYTES + 2 * tile as usize] = length as u8;
        bytes[ROWS + tile as usize] = rows as u8;
    };
    set(NUMBERS, rows, 4 * words);
    RESULTS.into_iter().for_each(|tile| set(tile, rows, ROW));
    WORDS.into_iter().for_each(|tile| set(tile, words, ROW));
    bytes
}
