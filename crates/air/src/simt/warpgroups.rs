//! Products by warpgroups, of four simdgroups: `wgmma`, which GPUs of compute capability 9.0 have. Each simdgroup has 16
//! rows of the left operand in registers; the right operand is in threadgroup memory, the same for all four, from where the
//! tensor cores take it. They multiply while the threads go on.
//!
//! Recognized are products of 16 × 16 by 16 × N (see [`super::tiles`]) whose right operands are loaded
//!
//! * from a threadgroup variable, at a place that is the same for all threads;
//! * each of one piece: rows of eight elements follow one another; and at equal distances;
//! * between the same two barriers as they are multiplied. What a thread stores there before the next barrier is not
//!   what another reads: that would be a race.
//!
//! The block must have a barrier: all threads of the threadgroup run it together. The threadgroup must have a multiple of
//! [`THREADS`] threads, which the launch decides. Results are waited for where they are used, or at the next barrier, after
//! which others may write the memory.

use super::fragments::{Load, left, loads};
use super::tiles::{Column, Tile, Tiles};
use crate::ir::{Block, Builder, ModuleRef, Opcode, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Threads of a warpgroup.
pub(super) const THREADS: u32 = 128;

/// The name of the instruction begins so.
pub(super) const INSTRUCTION: &str = "wgmma.";

const BARRIER: &str = "air.wg.barrier";

/// Right operands side by side: at least so many, and at most.
const FEWEST: usize = 4;
const MOST: usize = 32;

/// Bytes of a row of a matrix, and of the whole.
const ROW: i64 = 16;

/// One product of a warpgroup.
#[derive(Clone, Debug)]
pub(super) struct Product<'m> {
    /// Its products of 16 × 8, from left to right.
    tiles: Vec<Tile<'m>>,
    /// The left operand, in the order of its registers.
    pub(super) left: Vec<Value<'m>>,
    variable: Value<'m>,
    offset: i64,
    /// Bytes from the first eight rows of the right operand to the others, and from eight columns to the next.
    between_rows: i64,
    between_columns: i64,
    /// Rows of the right operand, not its columns, are each in one piece.
    has_rows: bool,
    is_half: bool,
    /// The results to wait for after this product, and where.
    pub(super) wait: Option<(Vec<Value<'m>>, Value<'m>)>,
}

impl<'m> Product<'m> {
    /// The columns of 8 × 8 products, in the order of the registers of their sums.
    pub(super) fn columns(&self) -> impl Iterator<Item = &Column<'m>> {
        self.tiles.iter().flat_map(|tile| &tile.columns)
    }

    fn calls(&self) -> impl Iterator<Item = Value<'m>> {
        self.columns().flat_map(|column| column.calls.iter().copied())
    }
}

/// The products of a kernel, by the call at whose place they begin; all calls that are in one; and loads of right operands
/// that nothing else uses.
pub(super) struct Products<'m> {
    pub(super) at: FxHashMap<Value<'m>, Product<'m>>,
    pub(super) members: FxHashSet<Value<'m>>,
    pub(super) loads: FxHashSet<Value<'m>>,
}

impl<'m> Products<'m> {
    pub(super) fn none() -> Products<'m> {
        Products { at: FxHashMap::default(), members: FxHashSet::default(), loads: FxHashSet::default() }
    }

    /// `instructions` are those on matrices, by block and in their order.
    pub(super) fn find(module: ModuleRef<'m>, instructions: &[Value<'m>], tiles: &Tiles<'m>) -> Products<'m> {
        let mut found = Products::none();
        let loads = loads(module, instructions, &FxHashSet::default());
        let mut blocks: Vec<Block<'m>> = instructions.iter().map(|instruction| instruction.block()).collect();
        blocks.dedup();
        for block in blocks {
            if let Some(products) = in_block(block, tiles, &loads) {
                for (at, product) in products {
                    found.members.extend(product.calls());
                    found.at.insert(at, product);
                }
            }
        }
        let rights = found.members.iter().map(|call| call.operand(1));
        let is_free = |load: &Value<'m>| load.users().iter().all(|user| found.members.contains(user));
        found.loads = rights.filter(is_free).collect();
        found
    }
}

type Loads<'m> = FxHashMap<Value<'m>, (usize, Load<'m>)>;

/// The instructions of a block, with their places, and the number of barriers before them.
struct Order<'m> {
    instructions: Vec<Value<'m>>,
    places: FxHashMap<Value<'m>, usize>,
    barriers: Vec<usize>,
}

impl<'m> Order<'m> {
    fn new(block: Block<'m>) -> Order<'m> {
        let instructions = block.instructions();
        let places = instructions.iter().copied().zip(0..).collect();
        let mut count = 0;
        let barriers = instructions.iter().map(|&instruction| {
            count += usize::from(is_barrier(instruction));
            count
        });
        Order { barriers: barriers.collect(), instructions, places }
    }

    fn place(&self, value: Value<'m>) -> Option<usize> {
        self.places.get(&value).copied()
    }

    /// The part of the block between two barriers that has an instruction.
    fn interval(&self, value: Value<'m>) -> Option<usize> {
        self.place(value).map(|place| self.barriers[place])
    }
}

fn is_barrier(value: Value) -> bool {
    value.is(Opcode::LLVMCall) && value.callee().is_some_and(|callee| callee.name() == BARRIER)
}

/// The products of a block, each with the call at whose place it is; `None` if some of it cannot be one: then those that
/// could be are not worth a wait.
fn in_block<'m>(block: Block<'m>, tiles: &Tiles<'m>, loads: &Loads<'m>) -> Option<Vec<(Value<'m>, Product<'m>)>> {
    let order = Order::new(block);
    if order.barriers.last().is_none_or(|&count| count == 0) {
        return None;
    }
    let mut groups: Vec<(Vec<Value<'m>>, Vec<Tile<'m>>, Value<'m>)> = Vec::new();
    for &call in &order.instructions {
        let Some(tile) = tiles.at.get(&call) else { continue };
        let left = left(tile);
        match groups.iter_mut().find(|(known, ..)| *known == left) {
            Some((_, tiles, last)) => {
                tiles.push(tile.clone());
                *last = call;
            }
            None => groups.push((left, vec![tile.clone()], call)),
        }
    }
    let mut products = Vec::new();
    for (left, tiles, at) in groups {
        products.push((at, product(&order, loads, left, tiles, at)?));
    }
    add_waits(&order, &mut products)?;
    Some(products)
}

/// Products of 16 × 8 with the same left operand as one.
fn product<'m>(
    order: &Order<'m>,
    loads: &Loads<'m>,
    left: Vec<Value<'m>>,
    tiles: Vec<Tile<'m>>,
    at: Value<'m>,
) -> Option<Product<'m>> {
    const SIDES: usize = 2;
    let interval = order.interval(at)?;
    if !(FEWEST..=MOST).contains(&tiles.len()) {
        return None;
    }
    let name = tiles[0].columns[0].calls[0].callee()?.name();
    let is_half = name.ends_with("v64f32.v64f16.v64f16.v64f32");
    if !is_half && !name.ends_with("v64f32.v64bf16.v64bf16.v64f32") {
        return None;
    }
    // The two right operands of each, and what their loads say.
    let mut places = Vec::new();
    let mut first: Option<Load<'m>> = None;
    for tile in &tiles {
        let is_whole = tile.columns.len() == SIDES && tile.columns.iter().all(|column| column.calls.len() == SIDES);
        let calls = || tile.columns.iter().flat_map(|column| &column.calls);
        if !is_whole || !calls().all(|&call| order.interval(call) == Some(interval)) {
            return None;
        }
        let mut pair = [0; SIDES];
        for (offset, call) in pair.iter_mut().zip(&tile.columns[0].calls) {
            let right = call.operand(1);
            let (_, load) = *loads.get(&right)?;
            let known = *first.get_or_insert(load);
            let fits = load.base == known.base && load.is_transposed == known.is_transposed;
            if !fits || order.interval(right) != Some(interval) || load.stride != ROW || !load.base.is_global() {
                return None;
            }
            *offset = load.offset;
        }
        places.push(pair);
    }
    let first = first?;
    let [offset, second] = places[0];
    let (between_rows, between_columns) = (second - offset, places[1][0] - offset);
    let is_regular = places
        .iter()
        .zip(0..)
        .all(|(&[upper, lower], index)| upper == offset + index * between_columns && lower == upper + between_rows);
    let can_be_said = |distance: i64| (0..1 << 18).contains(&distance) && distance % ROW == 0;
    if !is_regular || !can_be_said(between_rows) || !can_be_said(between_columns) {
        return None;
    }
    let (variable, has_rows) = (first.base, !first.is_transposed);
    Some(Product { tiles, left, variable, offset, between_rows, between_columns, has_rows, is_half, wait: None })
}

/// Adds waits to the last products between two barriers; `None` if something needs a result before.
fn add_waits<'m>(order: &Order<'m>, products: &mut [(Value<'m>, Product<'m>)]) -> Option<()> {
    let members: FxHashSet<Value<'m>> = products.iter().flat_map(|(_, product)| product.calls()).collect();
    let mut rest = products;
    while let Some((at, _)) = rest.first() {
        let interval = order.interval(*at)?;
        let count = rest.iter().take_while(|(at, _)| order.interval(*at) == Some(interval)).count();
        let (here, others) = rest.split_at_mut(count);
        let end = order.place(here[count - 1].0)?;
        let (mut results, mut until) = (Vec::new(), order.instructions.len() - 1);
        for (at, product) in here.iter() {
            let place = order.place(*at)?;
            for result in product.columns().map(Column::last) {
                let is_of_others = |user: &Value<'m>| {
                    !(members.contains(user)
                        && order.interval(*user) == Some(interval)
                        && user.operand(2) == result)
                };
                let inside = |user: &Value<'m>| order.place(*user).filter(|_| !user.is(Opcode::LLVMPHI));
                let users = result.users();
                // A product takes its sums when the one that makes them has begun.
                if users.iter().any(|user| !is_of_others(user) && inside(user) <= Some(place)) {
                    return None;
                }
                for user in users.iter().filter(|user| is_of_others(user)) {
                    match inside(user) {
                        Some(early) if early <= end => return None,
                        Some(later) => until = until.min(later),
                        None => {}
                    }
                }
                if users.iter().any(is_of_others) {
                    results.push(result);
                }
            }
        }
        let next = (end + 1..until).find(|&place| is_barrier(order.instructions[place])).unwrap_or(until);
        here[count - 1].1.wait = Some((results, order.instructions[next]));
        rest = others;
    }
    Some(())
}

/// Begins a product: the new sums, a pair of numbers for each of `sums`. Nothing but other products may use them before the
/// wait.
pub(super) fn emit<'m>(
    b: &Builder<'m>,
    product: &Product<'m>,
    left: &[Value<'m>],
    sums: &[Value<'m>],
) -> Vec<Value<'m>> {
    let void = Type::void(b.context());
    b.assembly("wgmma.fence.sync.aligned;", "~{memory}", void, &[]);
    let registers = separate(b, sums);
    let count = registers.len();
    let list = |numbers: std::ops::Range<usize>| numbers.map(|n| format!("${n}")).collect::<Vec<_>>().join(", ");
    let (first, columns) = (2 * count, 8 * product.tiles.len());
    let ty = if product.is_half { "f16" } else { "bf16" };
    let text = format!(
        "{{\n.reg .pred adds;\nsetp.eq.u32 adds, 0, 0;\nwgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{ty}.{ty} {{{}}}, \
         {{{}}}, ${}, adds, 1, 1, {};\n}}",
        list(0..count),
        list(first..first + left.len()),
        first + left.len(),
        u8::from(product.has_rows),
    );
    let constraints = constraints(count, &["r", "r", "r", "r", "l"]);
    let arguments: Vec<Value<'m>> = registers.iter().chain(left).copied().chain([descriptor(b, product)]).collect();
    let result = b.assembly(&text, &constraints, Type::structure(b.context(), &types(&registers)), &arguments);
    together(b, result, sums.len())
}

/// Waits for products at the place of `b`; the sums as they are then.
pub(super) fn wait<'m>(b: &Builder<'m>, sums: &[Value<'m>]) -> Vec<Value<'m>> {
    let registers = separate(b, sums);
    let ty = Type::structure(b.context(), &types(&registers));
    let result = b.assembly("wgmma.wait_group.sync.aligned 0;", &constraints(registers.len(), &[]), ty, &registers);
    together(b, result, sums.len())
}

/// Ends a group of products, for which a wait waits.
pub(super) fn commit(b: &Builder) {
    b.assembly("wgmma.commit_group.sync.aligned;", "~{memory}", Type::void(b.context()), &[]);
}

/// Lets the tensor cores see what was stored to threadgroup memory before a barrier.
pub(super) fn announce_stores<'m>(b: &Builder<'m>, blocks: &[Block<'m>]) {
    for barrier in blocks.iter().flat_map(|block| block.instructions()).filter(|&value| is_barrier(value)) {
        b.before(barrier);
        b.assembly("fence.proxy.async.shared::cta;", "~{memory}", Type::void(b.context()), &[]);
    }
}

/// As many results, each in the register of an argument, and other arguments.
fn constraints(count: usize, others: &[&str]) -> String {
    let results = (0..count).map(|_| "=f".to_owned());
    let arguments = (0..count).map(|number| number.to_string());
    let all = results.chain(arguments).chain(others.iter().map(|&other| other.to_owned()));
    all.chain(["~{memory}".to_owned()]).collect::<Vec<_>>().join(",")
}

/// The description of a right operand: its address, and the distances between its matrices, in units of 16 bytes.
fn descriptor<'m>(b: &Builder<'m>, product: &Product<'m>) -> Value<'m> {
    let long = Type::int(b.context(), 64);
    let start = b.offset(product.variable, long.constant(product.offset));
    let address = b.and(b.cast(Opcode::LLVMPtrToInt, start, long), long.constant((1 << 18) - 1));
    let unit = b.binary(Opcode::LLVMLShr, address, long.constant(4));
    b.or(unit, long.constant(((product.between_rows / ROW) << 16) | ((product.between_columns / ROW) << 32)))
}

fn types<'m>(values: &[Value<'m>]) -> Vec<Type<'m>> {
    values.iter().map(|value| value.ty()).collect()
}

fn separate<'m>(b: &Builder<'m>, pairs: &[Value<'m>]) -> Vec<Value<'m>> {
    let int = Type::int(b.context(), 32);
    pairs.iter().flat_map(|&pair| [0, 1].map(|index| b.extract(pair, int.constant(index)))).collect()
}

fn together<'m>(b: &Builder<'m>, numbers: Value<'m>, pairs: usize) -> Vec<Value<'m>> {
    let int = Type::int(b.context(), 32);
    let pair = |index: usize| {
        let [first, second] = [0, 1].map(|side| b.extract_value(numbers, (2 * index + side) as u32));
        let empty = first.ty().vector(2).poison();
        b.insert(b.insert(empty, first, int.constant(0)), second, int.constant(1))
    };
    (0..pairs).map(pair).collect()
}
