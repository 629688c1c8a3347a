//! The most likely token: `argmax` of `sampling.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all, formulas};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::sampling as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "argmax",
    kernels: &["argmax"],
    variants: Variants::One,
    shape: "M=1 N=vocabulary",
    checks: &["M=3 N=1001"],
    bytes: |c| 4.0 * c.mn(),
    flops: |c| c.mn(),
    build,
}];

/// [`argmax`]: the token with the largest logit; among equal logits, the lowest token.
#[derive(Clone, Copy, Debug)]
pub struct Argmax<'a> {
    /// `[rows, n]` f32.
    pub logits: BufferSlice<'a>,
    /// `[rows]` u32.
    pub tokens: BufferSlice<'a>,
    /// Number of sequences.
    pub rows: usize,
    /// Size of the vocabulary.
    pub n: usize,
}

/// Picks the largest logit of each row.
pub fn argmax(encoding: &mut Encoding<'_>, op: Argmax<'_>) -> Result<()> {
    let kernel = kernels::ARGMAX;
    let check = Check::new("argmax", kernel.info());
    let n = check.count("n", op.n)?;
    check.room("logits", &op.logits, &[op.rows, op.n])?;
    check.room("tokens", &op.tokens, &[op.rows])?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.n)?;
    let constants = kernels::ArgmaxConstants { simdgroups: simdgroups as u32 };
    let arguments = kernels::ArgmaxArgs { logits: op.logits, tokens: op.tokens, n };
    encoding.describe(&OPERATIONS[0], (), &[('M', op.rows), ('N', op.n)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n) = (case.shape['M'], case.shape['N']);
    let (logits, tokens) = (maker.logits(&[rows, n])?, maker.output("tokens", &[rows], Number::U32)?);
    maker.expect(&tokens, || logits.numbers().chunks(n).map(|row| formulas::argmax(row) as f64).collect());
    Ok(Box::new(move |encoding| argmax(encoding, Argmax { logits: all(&logits), tokens: tokens.slice(), rows, n })))
}
