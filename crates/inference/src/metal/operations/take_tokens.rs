//! Tokens and positions of a step, from the history: `take_tokens` of `sequence.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "take_tokens",
    kernels: &["take_tokens"],
    variants: Variants::One,
    shape: "M=512 L=4096",
    checks: &["M=33 L=100 P=7", "M=33 L=100 P=7 S=5"],
    bytes: |c| 12.0 * c.m(),
    flops: |_| 0.0,
    build,
}];

/// [`take_tokens`]: copies the tokens of a step, and numbers their positions.
#[derive(Clone, Copy, Debug)]
pub struct TakeTokens<'a> {
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// `[count]` u32.
    pub tokens: BufferSlice<'a>,
    /// `[count]` u32.
    pub positions: BufferSlice<'a>,
    /// Position of the first token.
    pub first: usize,
    /// Index of the sequence's first token in the history.
    pub offset: usize,
    /// Number of tokens.
    pub count: usize,
}

impl TakeTokens<'_> {
    pub(crate) const FIRST: PatchedParameter = PatchedParameter {
        index: kernels::TakeTokensArgs::P_INDEX,
        offset: offset_of!(kernels::TakeTokensParams, first),
    };
    pub(crate) const OFFSET: PatchedParameter =
        PatchedParameter { offset: offset_of!(kernels::TakeTokensParams, offset), ..TakeTokens::FIRST };
}

/// Copies tokens from the history and writes their positions.
pub fn take_tokens(encoding: &mut Encoding<'_>, op: TakeTokens<'_>) -> Result<()> {
    let kernel = kernels::TAKE_TOKENS;
    let check = Check::new("take_tokens", kernel.info());
    check.room("history", &op.history, &[op.offset.saturating_add(op.first).saturating_add(op.count)])?;
    check.room("tokens", &op.tokens, &[op.count])?;
    check.room("positions", &op.positions, &[op.count])?;
    if op.count == 0 {
        return Ok(());
    }
    let (first, offset, count) = (op.first as u32, op.offset as u32, check.count("count", op.count)?);
    let p = &kernels::TakeTokensParams { first, count, offset };
    let (history, tokens, positions) = (op.history, op.tokens, op.positions);
    let arguments = kernels::TakeTokensArgs { history, tokens, positions, p };
    encoding.describe(&OPERATIONS[0], (), &[('M', op.count)]);
    encoding.dispatch(kernel, &kernels::TakeTokensConstants {}, &arguments, DispatchGrid::threads(op.count))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, length) = (case.shape['M'], case.shape['L']);
    let history = maker.tokens(length, length)?;
    let (first, offset) = (case.shape.get('P').unwrap_or(0), case.shape.get('S').unwrap_or(0));
    let result = |name| maker.output(name, &[count], Number::U32);
    let (tokens, positions) = (result("tokens")?, result("positions")?);
    maker.expect(&tokens, || {
        history.read::<u32>()[offset + first..][..count].iter().copied().map(f64::from).collect()
    });
    maker.expect(&positions, || (first..first + count).map(|position| position as f64).collect());
    Ok(Box::new(move |encoding| {
        let (history, tokens, positions) = (all(&history), tokens.slice(), positions.slice());
        take_tokens(encoding, TakeTokens { history, tokens, positions, first, offset, count })
    }))
}
