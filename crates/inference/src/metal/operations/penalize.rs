//! Penalties for recent tokens: `penalize` of `sampling.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH};
use crate::metal::kernels::sampling as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "penalize",
    kernels: &["penalize"],
    variants: Variants::One,
    shape: "M=1 N=vocabulary C=64",
    checks: &["M=3 N=101 C=37"],
    bytes: |c| 12.0 * c.m() * c.c(),
    flops: |c| c.m() * c.c() * (c.c() + 4.0),
    build,
}];

/// [`penalize`]: lowers the logits of recent tokens.
#[derive(Clone, Copy, Debug)]
pub struct Penalize<'a> {
    /// `[rows, n]` f32, updated in place.
    pub logits: BufferSlice<'a>,
    /// `[rows, count]` u32. Tokens outside of the vocabulary are ignored, so a short list can be padded with
    /// `u32::MAX`.
    pub recent: BufferSlice<'a>,
    /// Number of sequences.
    pub rows: usize,
    /// Size of the vocabulary.
    pub n: usize,
    /// Number of recent tokens.
    pub count: usize,
    /// Divides positive logits and multiplies negative ones; 1 for no penalty.
    pub repeat: f32,
    /// Subtracted once from the logit of a recent token.
    pub presence: f32,
    /// Subtracted for each occurrence of the token among the recent ones.
    pub frequency: f32,
}

/// Lowers the logits of recent tokens.
pub fn penalize(encoding: &mut Encoding<'_>, op: Penalize<'_>) -> Result<()> {
    let kernel = kernels::PENALIZE;
    let check = Check::new("penalize", kernel.info());
    let n = check.count("n", op.n)?;
    check.room("logits", &op.logits, &[op.rows, op.n])?;
    check.room("recent", &op.recent, &[op.rows, op.count])?;
    if op.repeat <= 0.0 || op.repeat.is_nan() {
        return check.error(format_args!("repeat is {}: it must be above 0, and 1 for no penalty", op.repeat));
    }
    if op.rows == 0 || op.count == 0 {
        return Ok(());
    }
    let params = kernels::PenaltyParams {
        n,
        count: check.count("count", op.count)?,
        repeat: op.repeat,
        presence: op.presence,
        frequency: op.frequency,
    };
    let arguments = kernels::PenalizeArgs { logits: op.logits, recent: op.recent, p: &params };
    let grid = DispatchGrid::plane(op.count.div_ceil(SIMD_WIDTH), op.rows, 1);
    encoding.describe(&OPERATIONS[0], (), &[('M', op.rows), ('C', op.count)]);
    encoding.dispatch(kernel, &kernels::PenalizeConstants {}, &arguments, grid)
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, count) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let (logits, recent) = (maker.logits(&[rows, n])?, maker.tokens(rows.saturating_mul(count), n)?);
    let penalized = maker.changed("logits", &logits, Number::F32);
    // Measured runs have no penalties: the logits stay the same in every run.
    let (repeat, presence, frequency) = if maker.is_check() { (1.25, 0.5, 0.25) } else { (1.0, 0.0, 0.0) };
    maker.expect(&penalized, || {
        let mut logits = logits.numbers();
        for (row, recent) in logits.chunks_mut(n).zip(recent.read::<u32>().chunks(count)) {
            for (token, logit) in row.iter_mut().enumerate() {
                let times = recent.iter().filter(|recent| **recent as usize == token).count() as f64;
                let repeat = f64::from(repeat);
                if times > 0.0 {
                    *logit = if *logit > 0.0 { *logit / repeat } else { *logit * repeat };
                    *logit -= f64::from(presence) + times * f64::from(frequency);
                }
            }
        }
        logits
    });
    Ok(Box::new(move |encoding| {
        let (logits, recent) = (all(&logits), all(&recent));
        penalize(encoding, Penalize { logits, recent, rows, n, count, repeat, presence, frequency })
    }))
}
