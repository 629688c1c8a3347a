//! Random sampling of tokens: `sample` of `sampling.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all, formulas};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter};
use crate::metal::kernels::sampling as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "sample",
        kernels: &["sample"],
        variants: Variants::One,
        shape: "M=1 N=vocabulary",
        checks: &["M=5 N=1001"],
        bytes: |c| 4.0 * c.mn(),
        flops: |c| 5.0 * c.mn(),
        build: build_all,
    },
    Operation {
        name: "sample_candidates",
        kernels: &["sample"],
        variants: Variants::One,
        shape: "M=1 C=40",
        checks: &["M=5 C=40"],
        bytes: |c| 8.0 * c.m() * c.c(),
        flops: |c| 5.0 * c.m() * c.c(),
        build: build_candidates,
    },
];

/// [`sample`]: draws a token for each row.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// `[rows, n]` f32: logits of all tokens, or those that [`top_k`](fn@super::top_k) kept.
    pub values: BufferSlice<'a>,
    /// `[rows, n]` u32: tokens of the values, from [`top_k`](fn@super::top_k). Without it, value i belongs to token i.
    pub candidates: Option<BufferSlice<'a>>,
    /// `[rows]` u32.
    pub tokens: BufferSlice<'a>,
    /// Number of sequences.
    pub rows: usize,
    /// Values in a row.
    pub n: usize,
    /// Above 0; towards 0 the result approaches that of [`argmax`](fn@super::argmax).
    pub temperature: f32,
    /// Keeps the most probable tokens whose probabilities add up to `top_p`; 1 keeps all.
    pub top_p: f32,
    /// Keeps tokens at least `min_p` times as probable as the most probable one; 0 keeps all.
    pub min_p: f32,
    /// Seed of the draw: with the same logits, seed and step, the token is the same.
    pub seed: u64,
    /// Number of the draw in its sequence.
    pub step: u32,
}

impl Sample<'_> {
    pub(crate) const STEP: PatchedParameter =
        PatchedParameter { index: kernels::SampleArgs::P_INDEX, offset: offset_of!(kernels::SampleParams, step) };
}

/// Draws tokens with the probabilities that the logits give.
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
    let (operation, letter) = if op.candidates.is_some() { (1, 'C') } else { (0, 'N') };
    encoding.describe(&OPERATIONS[operation], (), &[('M', op.rows), (letter, op.n)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build_all(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case.shape['M'], case.shape['N'], false)
}

fn build_candidates(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case.shape['M'], case.shape['C'], true)
}

fn build(maker: &Maker<'_>, rows: usize, n: usize, indexed: bool) -> Built {
    let (values, tokens) = (maker.logits(&[rows, n])?, maker.output("tokens", &[rows], Number::U32)?);
    let candidates = maker.tokens(if indexed { rows.saturating_mul(n) } else { 0 }, n)?;
    let (temperature, top_p, min_p) = DRAW;
    let (seed, step) = (1, 0);
    maker.expect(&tokens, || {
        let (values, candidates) = (values.numbers(), candidates.read::<u32>());
        let drawn = values.chunks(n).enumerate().map(|(row, logits)| {
            let token = |i: usize| if indexed { candidates[row * n + i] } else { i as u32 };
            let score = |i: usize| logits[i] / f64::from(temperature) + gumbel(seed, step, row as u32, token(i));
            let kept = kept(logits, f64::from(top_p), f64::from(min_p));
            let scores: Vec<f64> = kept.iter().map(|&i| score(i)).collect();
            f64::from(token(kept[formulas::argmax(&scores)]))
        });
        drawn.collect()
    });
    Ok(Box::new(move |encoding| {
        let (values, tokens, candidates) = (all(&values), tokens.slice(), indexed.then(|| all(&candidates)));
        let op = Sample { values, candidates, tokens, rows, n, temperature, top_p, min_p, seed, step };
        sample(encoding, op)
    }))
}

/// Temperature, top_p and min_p, as models recommend them.
const DRAW: (f32, f32, f32) = (0.7, 0.9, 0.05);

/// Indices that top_p and min_p keep: the most probable tokens whose probabilities add up to at least top_p, ties
/// included, and of these the ones at least min_p times as probable as the first.
fn kept(logits: &[f64], top_p: f64, min_p: f64) -> Vec<usize> {
    let probabilities = formulas::softmax(logits);
    let largest = probabilities.iter().copied().fold(0.0, f64::max);
    let before = |own: f64| probabilities.iter().filter(|other| **other > own).sum::<f64>();
    let is_kept = |own: f64| (top_p >= 1.0 || own == largest || before(own) < top_p) && own >= min_p * largest;
    (0..logits.len()).filter(|&i| is_kept(probabilities[i])).collect()
}

/// Gumbel-distributed noise of a token: −log(E), E exponentially distributed, from a hash of seed, step, row and token.
fn gumbel(seed: u64, step: u32, row: u32, token: u32) -> f64 {
    fn scramble(x: u32) -> u32 {
        let x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        let x = (x ^ (x >> 15)).wrapping_mul(0x735a_2d97);
        x ^ (x >> 15)
    }
    let key = scramble(step ^ scramble(row.wrapping_add(0x9e37_79b9)));
    let key = scramble(seed as u32 ^ scramble((seed >> 32) as u32 ^ key));
    let uniform = (f64::from(scramble(token ^ key)) + 0.5) / 4_294_967_296.0;
    -(-(-uniform).ln_1p()).ln()
}
