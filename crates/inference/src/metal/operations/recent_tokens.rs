//! The last tokens of a sequence: `recent_tokens` of `sequence.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "recent_tokens",
    kernels: &["recent_tokens"],
    variants: Variants::One,
    shape: "L=4096 C=64",
    checks: &["L=20 C=33", "L=20 C=33 S=5"],
    bytes: |c| 8.0 * c.c(),
    flops: |_| 0.0,
    build,
}];

/// [`recent_tokens`]: the last tokens of a sequence, the latest first.
#[derive(Clone, Copy, Debug)]
pub struct RecentTokens<'a> {
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// `[count]` u32; `u32::MAX` for positions before the start of the sequence.
    pub recent: BufferSlice<'a>,
    /// Number of tokens in the sequence.
    pub end: usize,
    /// Index of the sequence's first token in the history.
    pub offset: usize,
    /// Number of tokens to copy.
    pub count: usize,
}

impl RecentTokens<'_> {
    pub(crate) const END: PatchedParameter = PatchedParameter {
        index: kernels::RecentTokensArgs::P_INDEX,
        offset: offset_of!(kernels::RecentTokensParams, end),
    };
    pub(crate) const OFFSET: PatchedParameter =
        PatchedParameter { offset: offset_of!(kernels::RecentTokensParams, offset), ..RecentTokens::END };
}

/// Copies the last tokens of the history.
pub fn recent_tokens(encoding: &mut Encoding<'_>, op: RecentTokens<'_>) -> Result<()> {
    let kernel = kernels::RECENT_TOKENS;
    let check = Check::new("recent_tokens", kernel.info());
    check.room("history", &op.history, &[op.offset.saturating_add(op.end)])?;
    check.room("recent", &op.recent, &[op.count])?;
    if op.count == 0 {
        return Ok(());
    }
    let (end, offset, count) = (op.end as u32, op.offset as u32, check.count("count", op.count)?);
    let p = &kernels::RecentTokensParams { end, count, offset };
    let arguments = kernels::RecentTokensArgs { history: op.history, recent: op.recent, p };
    encoding.describe(&OPERATIONS[0], (), &[('C', op.count)]);
    encoding.dispatch(kernel, &kernels::RecentTokensConstants {}, &arguments, DispatchGrid::threads(op.count))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, end) = (case.shape['C'], case.shape['L']);
    let offset = case.shape.get('S').unwrap_or(0);
    let (history, recent) = (maker.tokens(offset + end, end)?, maker.output("recent", &[count], Number::U32)?);
    maker.expect(&recent, || {
        let latest_first = history.read::<u32>().into_iter().skip(offset).rev();
        latest_first.chain(std::iter::repeat(u32::MAX)).take(count).map(f64::from).collect()
    });
    Ok(Box::new(move |encoding| {
        let (history, recent) = (all(&history), recent.slice());
        recent_tokens(encoding, RecentTokens { history, recent, end, offset, count })
    }))
}
