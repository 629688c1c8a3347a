//! Tokens of a prompt, sorted by expert: `group_experts` of `experts.metal`.

use super::route::Router;
use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::experts as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "group_experts",
    kernels: &["group_experts"],
    variants: Variants::One,
    shape: "M=512 E=128 U=8 B=16",
    checks: &["M=11 E=7 U=3 B=4", "M=3 E=40 U=2 B=8"],
    bytes: |c| 12.0 * c.m() * c.u(),
    flops: |c| 2.0 * c.m() * c.u() * c.e(),
    build,
}];

/// Vectors that one expert takes, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ExpertTile {
    /// The expert.
    pub expert: u32,
    /// Number of vectors; 0 if the tile is not used.
    pub count: u32,
    /// Row of the first vector.
    pub x: u32,
    /// Row of its result.
    pub y: u32,
}

/// [`group_experts`]: pairs of a token and one of its experts, sorted by expert.
#[derive(Clone, Copy, Debug)]
pub struct GroupExperts<'a> {
    /// `[tokens, used]` u32.
    pub experts: BufferSlice<'a>,
    /// [`GroupExperts::tiles`] of [`ExpertTile`].
    pub tiles: BufferSlice<'a>,
    /// `[tokens · used]` u32: the token of each sorted pair.
    pub tokens_of_rows: BufferSlice<'a>,
    /// `[tokens, used]` u32: the place of each pair among the sorted.
    pub rows: BufferSlice<'a>,
    /// Number of tokens.
    pub tokens: usize,
    /// Number of experts, and of those used.
    pub router: Router,
    /// Most vectors of a tile.
    pub tile: usize,
}

impl GroupExperts<'_> {
    /// Maximum number of tiles: whole ones, and a last one of each expert that is used.
    pub fn tiles(pairs: usize, experts: usize, tile: usize) -> usize {
        pairs / tile.max(1) + experts.min(pairs)
    }
}

/// Sorts pairs by expert, in one threadgroup.
pub fn group_experts(encoding: &mut Encoding<'_>, op: GroupExperts<'_>) -> Result<()> {
    let kernel = kernels::GROUP_EXPERTS;
    let check = Check::new("group_experts", kernel.info());
    let [expert_count, used] = op.router.check(&check)?;
    let counts = [op.tokens, op.router.used];
    for (name, slice) in [("experts", &op.experts), ("tokens", &op.tokens_of_rows), ("rows", &op.rows)] {
        check.room(name, slice, &counts)?;
    }
    if op.tokens == 0 {
        return Ok(());
    }
    let pairs = op.tokens.saturating_mul(op.router.used);
    let tile = check.count("tile", op.tile)?;
    let tiles = GroupExperts::tiles(pairs, op.router.experts, op.tile);
    check.room("tiles", &op.tiles, &[tiles])?;
    let p =
        &kernels::GroupParams { pairs: check.count("pairs", pairs)?, tile, tiles: check.count("tiles", tiles)? };
    let simdgroups = check.simdgroups(encoding, pairs)?;
    let constants = kernels::GroupExpertsConstants { simdgroups: simdgroups as u32, expert_count, used };
    let (experts, tiles, tokens, rows) = (op.experts, op.tiles, op.tokens_of_rows, op.rows);
    let arguments = kernels::GroupExpertsArgs { experts, tiles, tokens, rows, p };
    let sizes = [('M', op.tokens), ('E', op.router.experts), ('U', op.router.used), ('B', op.tile)];
    encoding.describe(&OPERATIONS[0], (), &sizes);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(1, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, experts, used, tile) = (case.shape['M'], case.shape['E'], case.shape['U'], case.shape['B']);
    let pairs = tokens * used;
    let chosen: Vec<u32> = (0..pairs).map(|pair| expert_of_pair(pair, experts, used) as u32).collect();
    let chosen_buffer = maker.integers(&chosen)?;
    let tile_count = GroupExperts::tiles(pairs, experts, tile);
    let tiles = maker.output("tiles", &[tile_count, 4], Number::U32)?;
    let tokens_of_rows = maker.output("tokens", &[pairs], Number::U32)?;
    let rows = maker.output("rows", &[pairs], Number::U32)?;
    let mut sorted: Vec<usize> = (0..pairs).collect();
    sorted.sort_by_key(|pair| chosen[*pair]);
    maker.expect(&tokens_of_rows, || sorted.iter().map(|pair| (pair / used) as f64).collect());
    maker.expect(&rows, || {
        let mut rows = vec![0.0; pairs];
        sorted.iter().enumerate().for_each(|(row, pair)| rows[*pair] = row as f64);
        rows
    });
    maker.expect(&tiles, || {
        let (mut numbers, mut row) = (Vec::new(), 0);
        for expert in 0..experts {
            let count = chosen.iter().filter(|chosen| **chosen as usize == expert).count();
            for first in (0..count).step_by(tile) {
                let own = tile.min(count - first);
                numbers.extend([expert, own, row + first, row + first].map(|number| number as f64));
            }
            row += count;
        }
        numbers.resize(4 * tile_count, 0.0);
        numbers
    });
    let router = Router { experts, used, routing: super::Routing::Softmax, normalized: false, scale: 1.0 };
    Ok(Box::new(move |encoding| {
        let (experts, tiles, rows) = (all(&chosen_buffer), tiles.slice(), rows.slice());
        let tokens_of_rows = tokens_of_rows.slice();
        group_experts(encoding, GroupExperts { experts, tiles, tokens_of_rows, rows, tokens, router, tile })
    }))
}

/// An expert for each pair: those of a token differ, and some are chosen more often than others.
fn expert_of_pair(pair: usize, experts: usize, used: usize) -> usize {
    let (token, slot) = (pair / used, pair % used);
    (token * token + slot) % experts
}
