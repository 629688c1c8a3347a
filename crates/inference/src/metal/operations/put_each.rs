//! Appends a token to each of several sequences: `put_each` of `sequence.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Problem, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::{Buffer, Result};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "put_each",
    kernels: &["put_each"],
    variants: Variants::One,
    shape: "M=16 L=4096",
    checks: &["M=35 L=40"],
    bytes: |c| 20.0 * c.m(),
    flops: |_| 0.0,
    build,
}];

/// [`put_each`]: advances the position of each sequence, and stores a token there.
#[derive(Clone, Copy, Debug)]
pub struct PutEach<'a> {
    /// `[count]` u32.
    pub tokens: BufferSlice<'a>,
    /// `[count]` u32: the sequences, each once.
    pub sequences: BufferSlice<'a>,
    /// `[count]` u32: the last position of each sequence.
    pub positions: BufferSlice<'a>,
    /// u32: the tokens of all sequences, `stride` each. A token beyond the end of its sequence is not stored.
    pub history: BufferSlice<'a>,
    /// Number of sequences.
    pub count: usize,
    /// Tokens from one sequence to the next in the history.
    pub stride: usize,
}

/// Appends a token to each sequence.
pub fn put_each(encoding: &mut Encoding<'_>, op: PutEach<'_>) -> Result<()> {
    let kernel = kernels::PUT_EACH;
    let check = Check::new("put_each", kernel.info());
    let (tokens, sequences, positions, history) = (op.tokens, op.sequences, op.positions, op.history);
    for (name, slice) in [("positions", &positions), ("sequences", &sequences), ("tokens", &tokens)] {
        check.room(name, slice, &[op.count])?;
    }
    check.room("history", &history, &[op.stride])?;
    if op.count == 0 {
        return Ok(());
    }
    let p = &each_params(&check, op.count, op.stride)?;
    let arguments = kernels::PutEachArgs { tokens, sequences, positions, history, p };
    encoding.describe(&OPERATIONS[0], (), &[('M', op.count)]);
    encoding.dispatch(kernel, &kernels::PutEachConstants {}, &arguments, DispatchGrid::threads(op.count))
}

pub(super) fn each_params(check: &Check<'_>, count: usize, stride: usize) -> Result<kernels::EachParams> {
    Ok(kernels::EachParams { count: check.count("count", count)?, stride: check.count("stride", stride)? })
}

/// Different positions of all sequences, which are not in order.
pub(super) fn sequences_case(
    maker: &Maker<'_>,
    count: usize,
    stride: usize,
) -> std::result::Result<(Buffer, Buffer), Problem> {
    Ok((maker.positions(count, stride)?, maker.positions(count, count)?))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, stride) = (case.shape['M'], case.shape['L']);
    let tokens = maker.tokens(count, stride)?;
    let (before, sequences) = sequences_case(maker, count, stride)?;
    let positions = maker.output("positions", &[count], Number::U32)?;
    let history = maker.output("history", &[count, stride], Number::U32)?;
    before.read::<u32>().iter().enumerate().try_for_each(|(i, position)| positions.set(i, *position))?;
    maker.expect(&positions, || before.read::<u32>().into_iter().map(|position| f64::from(position + 1)).collect());
    maker.expect(&history, || {
        let (mut numbers, tokens) = (history.numbers(), tokens.read::<u32>());
        let places = sequences.read::<u32>().into_iter().zip(before.read::<u32>());
        for ((sequence, position), token) in places.zip(tokens) {
            if position as usize + 1 < stride {
                numbers[sequence as usize * stride + position as usize + 1] = f64::from(token);
            }
        }
        numbers
    });
    Ok(Box::new(move |encoding| {
        let (tokens, sequences) = (all(&tokens), all(&sequences));
        let (positions, history) = (positions.slice(), history.slice());
        put_each(encoding, PutEach { tokens, sequences, positions, history, count, stride })
    }))
}
