//! Appends a token to a sequence: `put_token` of `sequence.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "put_token",
    kernels: &["put_token"],
    variants: Variants::One,
    shape: "L=4096",
    checks: &["L=50", "L=50 S=7"],
    bytes: |_| 8.0,
    flops: |_| 0.0,
    build,
}];

/// [`put_token`]: `history[position] = token`.
#[derive(Clone, Copy, Debug)]
pub struct PutToken<'a> {
    /// `[1]` u32.
    pub token: BufferSlice<'a>,
    /// u32: the tokens of all positions.
    pub history: BufferSlice<'a>,
    /// Position of the token. A token beyond the end of the history is not stored.
    pub position: usize,
    /// Index of the sequence's first token in the history.
    pub offset: usize,
}

impl PutToken<'_> {
    pub(crate) const POSITION: PatchedParameter = PatchedParameter {
        index: kernels::PutTokenArgs::P_INDEX,
        offset: offset_of!(kernels::PutTokenParams, position),
    };
    pub(crate) const OFFSET: PatchedParameter =
        PatchedParameter { offset: offset_of!(kernels::PutTokenParams, offset), ..PutToken::POSITION };
}

/// Stores a token in the history.
pub fn put_token(encoding: &mut Encoding<'_>, op: PutToken<'_>) -> Result<()> {
    let kernel = kernels::PUT_TOKEN;
    let check = Check::new("put_token", kernel.info());
    check.room("token", &op.token, &[1])?;
    let capacity = check.count("capacity", (op.history.len() / 4).saturating_sub(op.offset))?;
    let position = u32::try_from(op.position).unwrap_or(u32::MAX);
    let p = &kernels::PutTokenParams { position, capacity, offset: op.offset as u32 };
    let arguments = kernels::PutTokenArgs { token: op.token, history: op.history, p };
    encoding.describe(&OPERATIONS[0], (), &[]);
    encoding.dispatch(kernel, &kernels::PutTokenConstants {}, &arguments, DispatchGrid::threads(1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let length = case.shape['L'];
    let (token, history) = (maker.tokens(1, length)?, maker.output("history", &[length], Number::U32)?);
    let offset = case.shape.get('S').unwrap_or(0);
    let position = length - 1 - offset;
    maker.expect(&history, || {
        let mut numbers = history.numbers();
        numbers[offset + position] = f64::from(token.read::<u32>()[0]);
        numbers
    });
    Ok(Box::new(move |encoding| {
        let (token, history) = (all(&token), history.slice());
        put_token(encoding, PutToken { token, history, position, offset })
    }))
}
