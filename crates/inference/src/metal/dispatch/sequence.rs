//! The tokens of a sequence: `sequence.metal`.

use super::{Changing, Check, Encoding, Grid, SIMD_WIDTH};
use crate::metal::format::Activation;
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

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
    pub(crate) const FIRST: Changing = Changing { index: 3, offset: offset_of!(kernels::TakeTokensParams, first) };
}

/// Takes tokens and their positions out of the history.
pub fn take_tokens(encoding: &mut Encoding<'_>, op: TakeTokens<'_>) -> Result<()> {
    let check = Check { operation: "take_tokens" };
    check.room("history", &op.history, &[op.first.saturating_add(op.count)], 4)?;
    check.room("tokens", &op.tokens, &[op.count], 4)?;
    check.room("positions", &op.positions, &[op.count], 4)?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &kernels::TakeTokensParams { first: op.first as u32, count: check.count("count", op.count)? };
    let (history, tokens, positions) = (op.history, op.tokens, op.positions);
    let arguments = kernels::TakeTokensArgs { history, tokens, positions, p };
    encoding.dispatch(kernels::TAKE_TOKENS, &kernels::TakeTokensConstants {}, &arguments, grid(op.count))
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
    pub(crate) const END: Changing = Changing { index: 2, offset: offset_of!(kernels::RecentTokensParams, end) };
}

/// Takes the last tokens out of the history.
pub fn recent_tokens(encoding: &mut Encoding<'_>, op: RecentTokens<'_>) -> Result<()> {
    let check = Check { operation: "recent_tokens" };
    check.room("history", &op.history, &[op.end], 4)?;
    check.room("recent", &op.recent, &[op.count], 4)?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &kernels::RecentTokensParams { end: op.end as u32, count: check.count("count", op.count)? };
    let arguments = kernels::RecentTokensArgs { history: op.history, recent: op.recent, p };
    encoding.dispatch(kernels::RECENT_TOKENS, &kernels::RecentTokensConstants {}, &arguments, grid(op.count))
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
        Changing { index: 2, offset: offset_of!(kernels::PutTokenParams, position) };
}

/// Puts a token into the history.
pub fn put_token(encoding: &mut Encoding<'_>, op: PutToken<'_>) -> Result<()> {
    let check = Check { operation: "put_token" };
    check.room("token", &op.token, &[1], 4)?;
    let capacity = check.count("capacity", op.history.len() / 4)?;
    let p = &kernels::PutTokenParams { position: u32::try_from(op.position).unwrap_or(u32::MAX), capacity };
    let arguments = kernels::PutTokenArgs { token: op.token, history: op.history, p };
    encoding.dispatch(kernels::PUT_TOKEN, &kernels::PutTokenConstants {}, &arguments, grid(1))
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
    pub(crate) const ROW: Changing = Changing { index: 2, offset: offset_of!(kernels::TakeRowParams, row) };
}

/// Copies a row.
pub fn take_row(encoding: &mut Encoding<'_>, op: TakeRow<'_>) -> Result<()> {
    let check = Check { operation: "take_row" };
    let x = check.room("x", &op.x, &[op.row.saturating_add(1), op.n], op.activation.size())?;
    let y = check.room("y", &op.y, &[op.n], op.activation.size())?;
    check.apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::TAKE_ROW_F32,
        Activation::F16 => kernels::TAKE_ROW_F16,
    };
    let p = &kernels::TakeRowParams { row: check.count("row", op.row + 1)? - 1, n: check.count("n", op.n)? };
    let arguments = kernels::TakeRowArgs { x: op.x, y: op.y, p };
    encoding.dispatch(kernel, &kernels::TakeRowConstants {}, &arguments, grid(op.n))
}

fn grid(n: usize) -> Grid {
    Grid::linear(n.div_ceil(SIMD_WIDTH), 1)
}
