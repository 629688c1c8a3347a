//! The k most likely tokens: `top_k` of `sampling.metal`.

use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::sampling as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "top_k",
    kernels: &["top_k"],
    variants: Variants::One,
    shape: "M=1 N=vocabulary C=40",
    checks: &["M=3 N=1001 C=40"],
    bytes: |c| 4.0 * c.mn() + 8.0 * c.m() * c.c(),
    flops: |c| c.mn(),
    build,
}];

/// [`top_k`]: the k largest logits and their tokens, by ascending token; among equal logits, the lowest tokens.
#[derive(Clone, Copy, Debug)]
pub struct TopK<'a> {
    /// `[rows, n]` f32.
    pub logits: BufferSlice<'a>,
    /// `[rows, k]` f32: the k largest logits.
    pub values: BufferSlice<'a>,
    /// `[rows, k]` u32: their tokens.
    pub tokens: BufferSlice<'a>,
    /// Number of sequences.
    pub rows: usize,
    /// Size of the vocabulary.
    pub n: usize,
    /// Number of logits to keep; at most `n`.
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
    encoding.describe(&OPERATIONS[0], (), &[('M', op.rows), ('N', op.n), ('C', op.k)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, k) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let logits = maker.logits(&[rows, n])?;
    let values = maker.output("values", &[rows, k], Number::F32)?;
    let tokens = maker.output("tokens", &[rows, k], Number::U32)?;
    let kept = |row: &[f64]| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        order.truncate(k);
        order.sort();
        order
    };
    maker.expect(&values, || {
        let value = |row: &[f64]| kept(row).into_iter().map(|token| row[token]).collect::<Vec<f64>>();
        logits.numbers().chunks(n).flat_map(value).collect()
    });
    maker.expect(&tokens, || logits.numbers().chunks(n).flat_map(kept).map(|token| token as f64).collect());
    Ok(Box::new(move |encoding| {
        let (logits, values, tokens) = (all(&logits), values.slice(), tokens.slice());
        top_k(encoding, TopK { logits, values, tokens, rows, n, k })
    }))
}
