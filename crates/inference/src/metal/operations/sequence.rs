//! The tokens of a sequence: `sequence.metal`.

use crate::formats::Activation;
use crate::metal::dispatch::{Changing, Check, DispatchGrid, Encoding, SIMD_WIDTH};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use crate::operations::{Operation, Variants};
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "take_tokens",
        kernels: &["take_tokens"],
        variants: Variants::One,
        shape: "M=512 L=4096",
        checks: &["M=33 L=100 P=7"],
        bytes: |c| 12.0 * c.m(),
        flops: |_| 0.0,
        build: crate::operations::build::sequence::take_tokens,
    },
    Operation {
        name: "recent_tokens",
        kernels: &["recent_tokens"],
        variants: Variants::One,
        shape: "L=4096 C=64",
        checks: &["L=20 C=33"],
        bytes: |c| 8.0 * c.c(),
        flops: |_| 0.0,
        build: crate::operations::build::sequence::recent_tokens,
    },
    Operation {
        name: "put_token",
        kernels: &["put_token"],
        variants: Variants::One,
        shape: "L=4096",
        checks: &["L=50"],
        bytes: |_| 8.0,
        flops: |_| 0.0,
        build: crate::operations::build::sequence::put_token,
    },
    Operation {
        name: "take_row",
        kernels: &["take_row"],
        variants: Variants::Activations,
        shape: "M=512 N=width",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.n()),
        flops: |_| 0.0,
        build: crate::operations::build::sequence::take_row,
    },
];

/// [`take_tokens`]: what a step computes.
#[derive(Clone, Copy, Debug)]
pub struct TakeTokens<'a> {
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// `[count]` u32.
    pub tokens: BufferSlice<'a>,
    /// `[count]` u32.
    pub positions: BufferSlice<'a>,
    /// The position of the first.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl TakeTokens<'_> {
    pub(crate) const FIRST: Changing =
        Changing { index: kernels::TakeTokensArgs::P_INDEX, offset: offset_of!(kernels::TakeTokensParams, first) };
}

/// Takes tokens and their positions out of the history.
pub fn take_tokens(encoding: &mut Encoding<'_>, op: TakeTokens<'_>) -> Result<()> {
    let kernel = kernels::TAKE_TOKENS;
    let check = Check::new("take_tokens", kernel.info());
    check.room("history", &op.history, &[op.first.saturating_add(op.count)])?;
    check.room("tokens", &op.tokens, &[op.count])?;
    check.room("positions", &op.positions, &[op.count])?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &kernels::TakeTokensParams { first: op.first as u32, count: check.count("count", op.count)? };
    let (history, tokens, positions) = (op.history, op.tokens, op.positions);
    let arguments = kernels::TakeTokensArgs { history, tokens, positions, p };
    encoding.dispatch(kernel, &kernels::TakeTokensConstants {}, &arguments, grid(op.count))
}

/// [`recent_tokens`]: the last tokens of a sequence, the latest first.
#[derive(Clone, Copy, Debug)]
pub struct RecentTokens<'a> {
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// `[count]` u32; `u32::MAX` where the sequence has not begun.
    pub recent: BufferSlice<'a>,
    /// Tokens in the sequence.
    pub end: usize,
    /// How many to take.
    pub count: usize,
}

impl RecentTokens<'_> {
    pub(crate) const END: Changing = Changing {
        index: kernels::RecentTokensArgs::P_INDEX,
        offset: offset_of!(kernels::RecentTokensParams, end),
    };
}

/// Takes the last tokens out of the history.
pub fn recent_tokens(encoding: &mut Encoding<'_>, op: RecentTokens<'_>) -> Result<()> {
    let kernel = kernels::RECENT_TOKENS;
    let check = Check::new("recent_tokens", kernel.info());
    check.room("history", &op.history, &[op.end])?;
    check.room("recent", &op.recent, &[op.count])?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &kernels::RecentTokensParams { end: op.end as u32, count: check.count("count", op.count)? };
    let arguments = kernels::RecentTokensArgs { history: op.history, recent: op.recent, p };
    encoding.dispatch(kernel, &kernels::RecentTokensConstants {}, &arguments, grid(op.count))
}

/// [`put_token`]: one more token.
#[derive(Clone, Copy, Debug)]
pub struct PutToken<'a> {
    /// `[1]` u32.
    pub token: BufferSlice<'a>,
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// Where it goes. What is behind the end of the history is not stored.
    pub position: usize,
}

impl PutToken<'_> {
    pub(crate) const POSITION: Changing =
        Changing { index: kernels::PutTokenArgs::P_INDEX, offset: offset_of!(kernels::PutTokenParams, position) };
}

/// Puts a token into the history.
pub fn put_token(encoding: &mut Encoding<'_>, op: PutToken<'_>) -> Result<()> {
    let kernel = kernels::PUT_TOKEN;
    let check = Check::new("put_token", kernel.info());
    check.room("token", &op.token, &[1])?;
    let capacity = check.count("capacity", op.history.len() / 4)?;
    let p = &kernels::PutTokenParams { position: u32::try_from(op.position).unwrap_or(u32::MAX), capacity };
    let arguments = kernels::PutTokenArgs { token: op.token, history: op.history, p };
    encoding.dispatch(kernel, &kernels::PutTokenConstants {}, &arguments, grid(1))
}

/// [`take_row`]: one row of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct TakeRow<'a> {
    /// `[more than row, n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations.
    pub y: BufferSlice<'a>,
    /// Which row.
    pub row: usize,
    /// Numbers in a row.
    pub n: usize,
    /// The type of x and y.
    pub activation: Activation,
}

impl TakeRow<'_> {
    pub(crate) const ROW: Changing =
        Changing { index: kernels::TakeRowArgs::P_INDEX, offset: offset_of!(kernels::TakeRowParams, row) };
}

/// Copies a row.
pub fn take_row(encoding: &mut Encoding<'_>, op: TakeRow<'_>) -> Result<()> {
    let kernel = kernels::TakeRow::select(op.activation);
    let check = Check::new("take_row", kernel.info());
    let x = check.room("x", &op.x, &[op.row.saturating_add(1), op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let p = &kernels::TakeRowParams { row: check.count("row", op.row + 1)? - 1, n: check.count("n", op.n)? };
    let arguments = kernels::TakeRowArgs { x: op.x, y: op.y, p };
    encoding.dispatch(kernel, &kernels::TakeRowConstants {}, &arguments, grid(op.n))
}

fn grid(n: usize) -> DispatchGrid {
    DispatchGrid::linear(n.div_ceil(SIMD_WIDTH), 1)
}
