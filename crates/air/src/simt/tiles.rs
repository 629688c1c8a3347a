//! Products of matrices that one instruction computes together. The GPU's largest product of half and bfloat is one of
//! 16 × 16 by 16 × 8: four of Metal's, two of them below one another, which share the right operand, and two after one
//! another, the second of which adds to the first. The instruction takes as long as one for a single product. That of
//! float is of 16 × 8 by 8 × 8: two below one another.
//!
//! Products are put together within a block, at the place of the last; so nothing may use a result before.

use super::matrix::is_matrix;
use super::product::is_fast;
use crate::ir::{Opcode, Value};
use rustc_hash::{FxHashMap, FxHashSet};

const NAME: &str = "air.simdgroup_matrix_8x8_multiply_accumulate.";

/// Products that one instruction computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tile<'m> {
    /// One or two, below one another.
    pub(super) columns: Vec<Column<'m>>,
}

/// One or two products, each adding to the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Column<'m> {
    pub(super) calls: Vec<Value<'m>>,
}

impl<'m> Column<'m> {
    pub(super) fn last(&self) -> Value<'m> {
        self.calls[self.calls.len() - 1]
    }

    /// Properties that products below one another share.
    fn key(&self) -> (String, Vec<Value<'m>>) {
        let name = self.calls[0].callee().map(Value::name).unwrap_or_default();
        (name, self.calls.iter().map(|call| call.operand(1)).collect())
    }
}

/// The products of a kernel that are put together, by the call at whose place they are computed; and all the calls that
/// are in one of them.
pub(super) struct Tiles<'m> {
    pub(super) at: FxHashMap<Value<'m>, Tile<'m>>,
    pub(super) members: FxHashSet<Value<'m>>,
}

impl<'m> Tiles<'m> {
    /// None.
    pub(super) fn none() -> Tiles<'m> {
        Tiles { at: FxHashMap::default(), members: FxHashSet::default() }
    }

    /// `instructions` are those on matrices, by block and in their order.
    pub(super) fn find(instructions: &[Value<'m>]) -> Tiles<'m> {
        let mut tiles = Tiles::none();
        let mut rest = instructions;
        while let Some(first) = rest.first() {
            let block = first.block();
            let count = rest.iter().take_while(|value| value.block() == block).count();
            let (here, others) = rest.split_at(count);
            tiles.find_in_block(here);
            rest = others;
        }
        tiles
    }

    fn find_in_block(&mut self, instructions: &[Value<'m>]) {
        let products: Vec<Value<'m>> = instructions.iter().copied().filter(|&value| is_product(value)).collect();
        if products.is_empty() {
            return;
        }
        let order = products[0].block().instructions();
        let place: FxHashMap<Value<'m>, usize> = order.into_iter().zip(0..).collect();
        let mut single: Vec<Column<'m>> = Vec::new();
        for column in columns(&products) {
            let fits = |above: &Column<'m>| above.key() == column.key() && can_be_together(above, &column, &place);
            match single.iter().position(fits) {
                Some(above) => self.add(Tile { columns: vec![single.remove(above), column] }, &place),
                None => single.push(column),
            }
        }
        for column in single {
            self.add(Tile { columns: vec![column] }, &place);
        }
    }

    fn add(&mut self, tile: Tile<'m>, place: &FxHashMap<Value<'m>, usize>) {
        let calls = || tile.columns.iter().flat_map(|column| column.calls.iter().copied());
        let Some(last) = calls().max_by_key(|call| place.get(call).copied().unwrap_or(0)) else { return };
        self.members.extend(calls());
        self.at.insert(last, tile);
    }
}

/// True for a product that the tensor cores compute, and that adds to float.
fn is_product(value: Value) -> bool {
    let name = if value.is(Opcode::LLVMCall) { value.callee().map(Value::name) } else { None };
    let Some(types) = name.as_deref().and_then(|name| name.strip_prefix(NAME)) else { return false };
    match types {
        "v64f32.v64f16.v64f16.v64f32" | "v64f32.v64bf16.v64bf16.v64f32" => is_matrix(value.ty()),
        FLOAT => is_matrix(value.ty()) && is_fast(value.fast_math().unwrap_or(0)),
        _ => false,
    }
}

/// The types of a product of float.
const FLOAT: &str = "v64f32.v64f32.v64f32.v64f32";

/// Puts products that add to one another in pairs.
fn columns<'m>(products: &[Value<'m>]) -> Vec<Column<'m>> {
    let mut taken: FxHashSet<Value<'m>> = FxHashSet::default();
    let mut columns = Vec::new();
    for &call in products {
        if !taken.insert(call) {
            continue;
        }
        let mut calls = vec![call];
        let is_float = call.callee().is_some_and(|callee| callee.name().ends_with(FLOAT));
        if !is_float
            && let [next] = call.users()[..]
            && products.contains(&next)
            && next.operand(2) == call
            && next.operand(0) != call
            && next.operand(1) != call
            && next.callee() == call.callee()
            && taken.insert(next)
        {
            calls.push(next);
        }
        columns.push(Column { calls });
    }
    columns
}

/// True if nothing needs the result of either before both are computed.
fn can_be_together<'m>(above: &Column<'m>, below: &Column<'m>, place: &FxHashMap<Value<'m>, usize>) -> bool {
    let at = |value: Value<'m>| place.get(&value).copied();
    let end = at(above.last()).max(at(below.last()));
    let is_later = |user: Value<'m>| user.is(Opcode::LLVMPHI) || at(user).is_none() || at(user) > end;
    [above, below].iter().all(|column| column.last().users().into_iter().all(is_later))
}
