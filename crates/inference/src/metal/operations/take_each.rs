//! The latest token of each of several sequences: `take_each` of `sequence.metal`.

use super::put_each::{each_params, sequences_case};
use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "take_each",
    kernels: &["take_each"],
    variants: Variants::One,
    shape: "M=16 L=4096",
    checks: &["M=35 L=40"],
    bytes: |c| 16.0 * c.m(),
    flops: |_| 0.0,
    build,
}];

/// [`take_each`]: copies the token at a position of each sequence.
#[derive(Clone, Copy, Debug)]
pub struct TakeEach<'a> {
    /// u32: the tokens of all sequences, `stride` each.
    pub history: BufferSlice<'a>,
    /// `[count]` u32: the position in each sequence.
    pub positions: BufferSlice<'a>,
    /// `[count]` u32: the sequences.
    pub sequences: BufferSlice<'a>,
    /// `[count]` u32.
    pub tokens: BufferSlice<'a>,
    /// Number of sequences.
    pub count: usize,
    /// Tokens from one sequence to the next in the history.
    pub stride: usize,
}

/// Copies one token of each sequence from the history.
pub fn take_each(encoding: &mut Encoding<'_>, op: TakeEach<'_>) -> Result<()> {
    let kernel = kernels::TAKE_EACH;
    let check = Check::new("take_each", kernel.info());
    let (history, positions, sequences, tokens) = (op.history, op.positions, op.sequences, op.tokens);
    for (name, slice) in [("positions", &positions), ("sequences", &sequences), ("tokens", &tokens)] {
        check.room(name, slice, &[op.count])?;
    }
    check.room("history", &history, &[op.stride])?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &each_params(&check, op.count, op.stride)?;
    let arguments = kernels::TakeEachArgs { history, positions, sequences, tokens, p };
    encoding.describe(&OPERATIONS[0], (), &[('M', op.count)]);
    encoding.dispatch(kernel, &kernels::TakeEachConstants {}, &arguments, DispatchGrid::threads(op.count))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, stride) = (case.shape['M'], case.shape['L']);
    let history = maker.tokens(count.saturating_mul(stride), stride)?;
    let (positions, sequences) = sequences_case(maker, count, stride)?;
    let tokens = maker.output("tokens", &[count], Number::U32)?;
    maker.expect(&tokens, || {
        let (history, places) =
            (history.read::<u32>(), sequences.read::<u32>().into_iter().zip(positions.read::<u32>()));
        places
            .map(|(sequence, position)| f64::from(history[sequence as usize * stride + position as usize]))
            .collect()
    });
    Ok(Box::new(move |encoding| {
        let (history, positions, sequences) = (all(&history), all(&positions), all(&sequences));
        take_each(encoding, TakeEach { history, positions, sequences, tokens: tokens.slice(), count, stride })
    }))
}
