//! The next token: `sampling.metal`.

use crate::metal::dispatch::{Changing, Check, DispatchGrid, Encoding, SIMD_WIDTH};
use crate::metal::kernels::sampling as kernels;
use crate::metal::library::BufferSlice;
use crate::operations::{Operation, Variants};
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "penalize",
        kernels: &["penalize"],
        variants: Variants::One,
        shape: "M=1 N=vocabulary C=64",
        checks: &["M=3 N=101 C=37"],
        bytes: |c| 12.0 * c.m() * c.c(),
        flops: |c| c.m() * c.c() * (c.c() + 4.0),
        build: crate::operations::build::sampling::penalize,
    },
    Operation {
        name: "argmax",
        kernels: &["argmax"],
        variants: Variants::One,
        shape: "M=1 N=vocabulary",
        checks: &["M=3 N=1001"],
        bytes: |c| 4.0 * c.mn(),
        flops: |c| c.mn(),
        build: crate::operations::build::sampling::argmax,
    },
    Operation {
        name: "top_k",
        kernels: &["top_k"],
        variants: Variants::One,
        shape: "M=1 N=vocabulary C=40",
        checks: &["M=3 N=1001 C=40"],
        bytes: |c| 4.0 * c.mn() + 8.0 * c.m() * c.c(),
        flops: |c| c.mn(),
        build: crate::operations::build::sampling::top_k,
    },
    Operation {
        name: "sample",
        kernels: &["sample"],
        variants: Variants::One,
        shape: "M=1 N=vocabulary",
        checks: &["M=5 N=1001"],
        bytes: |c| 4.0 * c.mn(),
        flops: |c| 5.0 * c.mn(),
        build: crate::operations::build::sampling::sample,
    },
    Operation {
        name: "sample_candidates",
        kernels: &["sample"],
        variants: Variants::One,
        shape: "M=1 C=40",
        checks: &["M=5 C=40"],
        bytes: |c| 8.0 * c.m() * c.c(),
        flops: |c| 5.0 * c.m() * c.c(),
        build: crate::operations::build::sampling::sample_candidates,
    },
];

/// [`penalize`]: lowers the logits of recent tokens.
#[derive(Clone, Copy, Debug)]
pub struct Penalize<'a> {
    /// `[rows, n]` f32, changed.
    pub logits: BufferSlice<'a>,
    /// `[rows, count]` u32; what is no token of the vocabulary is passed over, so a short list can be filled up with
    /// `u32::MAX`.
    pub recent: BufferSlice<'a>,
    /// How many sequences.
    pub rows: usize,
    /// Tokens of the vocabulary.
    pub n: usize,
    /// Recent tokens.
    pub count: usize,
    /// What positive logits are divided by and negative ones multiplied with; 1 for none.
    pub repeat: f32,
    /// What is taken away once.
    pub presence: f32,
    /// What is taken away for each time that the token is among the recent ones.
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
    encoding.dispatch(kernel, &kernels::PenalizeConstants {}, &arguments, grid)
}

/// [`argmax`]: the token of the largest logit; of equal ones the lowest.
#[derive(Clone, Copy, Debug)]
pub struct Argmax<'a> {
    /// `[rows, n]` f32.
    pub logits: BufferSlice<'a>,
    /// `[rows]` u32.
    pub tokens: BufferSlice<'a>,
    /// How many sequences.
    pub rows: usize,
    /// Tokens of the vocabulary.
    pub n: usize,
}

/// Chooses the largest logit.
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
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

/// [`top_k`]: the k largest logits and their tokens, by ascending token; of equal ones the lowest tokens.
#[derive(Clone, Copy, Debug)]
pub struct TopK<'a> {
    /// `[rows, n]` f32.
    pub logits: BufferSlice<'a>,
    /// `[rows, k]` f32: the logits that are kept.
    pub values: BufferSlice<'a>,
    /// `[rows, k]` u32: their tokens.
    pub tokens: BufferSlice<'a>,
    /// How many sequences.
    pub rows: usize,
    /// Tokens of the vocabulary.
    pub n: usize,
    /// How many are kept; at most `n`.
    pub k: usize,
}

/// Keeps the largest logits.
pub fn top_k(encoding: &mut Encoding<'_>, op: TopK<'_>) -> Result<()> {
    let kernel = kernels::TOP_K;
    let check = Check::new("top_k", kernel.info());
    let (n, k) = (check.count("n", op.n)?, check.count("k", op.k)?);
    if k > n {
        return check.error(format_args!("{k} are to be kept of {n}"));
    }
    check.room("logits", &op.logits, &[op.rows, op.n])?;
    check.room("values", &op.values, &[op.rows, op.k])?;
    check.room("tokens", &op.tokens, &[op.rows, op.k])?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.n)?;
    let constants = kernels::TopKConstants { simdgroups: simdgroups as u32, top_k: k };
    let arguments = kernels::TopKArgs { logits: op.logits, values: op.values, tokens: op.tokens, n };
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

/// [`sample`]: draws a token.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// `[rows, n]` f32: logits, of all tokens or those that [`top_k`] kept.
    pub values: BufferSlice<'a>,
    /// `[rows, n]` u32: the tokens of the values, from [`top_k`]; without it, the value i is that of the token i.
    pub candidates: Option<BufferSlice<'a>>,
    /// `[rows]` u32.
    pub tokens: BufferSlice<'a>,
    /// How many sequences.
    pub rows: usize,
    /// Values in a row.
    pub n: usize,
    /// Above 0; [`argmax`] is what it comes to near 0.
    pub temperature: f32,
    /// Keeps the most probable tokens that together have this probability; 1 keeps all.
    pub top_p: f32,
    /// Keeps tokens at least this probable relative to the most probable; 0 keeps all.
    pub min_p: f32,
    /// What the draw depends on, besides the logits: the same seed and step give the same token.
    pub seed: u64,
    /// Counts the draws of a sequence.
    pub step: u32,
}

impl Sample<'_> {
    pub(crate) const STEP: Changing =
        Changing { index: kernels::SampleArgs::P_INDEX, offset: offset_of!(kernels::SampleParams, step) };
}

/// Draws tokens with the probabilities that the logits say.
pub fn sample(encoding: &mut Encoding<'_>, op: Sample<'_>) -> Result<()> {
    let kernel = kernels::SAMPLE;
    let check = Check::new("sample", kernel.info());
    let n = check.count("n", op.n)?;
    check.room("values", &op.values, &[op.rows, op.n])?;
    if let Some(candidates) = &op.candidates {
        check.room("candidates", candidates, &[op.rows, op.n])?;
    }
    check.room("tokens", &op.tokens, &[op.rows])?;
    if op.temperature <= 0.0 || !op.temperature.is_finite() {
        let temperature = op.temperature;
        return check
            .error(format_args!("temperature is {temperature}: it must be above 0; argmax takes the largest"));
    }
    if op.top_p.is_nan() || op.min_p.is_nan() {
        return check.error("top_p and min_p must be numbers");
    }
    if op.rows == 0 {
        return Ok(());
    }
    let params = kernels::SampleParams {
        n,
        temperature: op.temperature,
        top_p: op.top_p,
        // The most probable token is always kept.
        min_p: op.min_p.min(1.0),
        seed_low: op.seed as u32,
        seed_high: (op.seed >> 32) as u32,
        step: op.step,
    };
    let simdgroups = check.simdgroups(encoding, op.n)?;
    let constants = kernels::SampleConstants { simdgroups: simdgroups as u32, indexed: op.candidates.is_some() };
    let arguments =
        kernels::SampleArgs { values: op.values, candidates: op.candidates, tokens: op.tokens, p: &params };
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}
