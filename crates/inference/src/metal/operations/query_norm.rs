//! RMS norm of queries that have gates between them: `query_norm` of `gated_attention.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::gated_attention as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "query_norm",
    kernels: &["query_norm"],
    variants: Variants::Activations,
    shape: "M=1 H=8 D=256",
    checks: &["M=2 H=3 D=40"],
    bytes: |c| c.a(2.0 * c.mhd()) + 4.0 * c.d(),
    flops: |c| 4.0 * c.mhd(),
    build,
}];

/// [`query_norm`]: each head y = x / √(mean(x²) + ε) · w.
#[derive(Clone, Copy, Debug)]
pub struct QueryNorm<'a> {
    /// `[rows, heads, 2, head_dim]` activations: the query and the gate of each head.
    pub x: BufferSlice<'a>,
    /// `[head_dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, heads, head_dim]` activations.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Heads in a row.
    pub heads: usize,
    /// Numbers in a head.
    pub head_dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Takes the queries, normalized by their root mean square.
pub fn query_norm(encoding: &mut Encoding<'_>, op: QueryNorm<'_>) -> Result<()> {
    let kernel = kernels::QueryNorm::select(op.activation);
    let check = Check::new("query_norm", kernel.info());
    let dim = check.count("head_dim", op.head_dim)?;
    check.count("heads", op.heads)?;
    let x = check.room("x", &op.x, &[op.rows, op.heads, 2, op.head_dim])?;
    check.room("w", &op.w, &[op.head_dim])?;
    let y = check.room("y", &op.y, &[op.rows, op.heads, op.head_dim])?;
    check.no_overlap(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let constants = kernels::QueryNormConstants { dim };
    let arguments = kernels::QueryNormArgs { x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('H', op.heads), ('D', op.head_dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, op.rows, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let x = maker.activations(&[rows, heads, 2, head_dim], activation)?;
    let w = maker.activations(&[head_dim], Activation::F32)?;
    let y = maker.output("y", &[rows, heads, head_dim], activation.into())?;
    let epsilon = maker.parameter(1e-5, 0.125);
    maker.expect(&y, || {
        let (x, w) = (x.numbers(), w.numbers());
        x.chunks(2 * head_dim).flat_map(|both| formulas::rms_norm(&both[..head_dim], &w, epsilon)).collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, w, y) = (all(&x), all(&w), y.slice());
        query_norm(encoding, QueryNorm { x, w, y, rows, heads, head_dim, epsilon, activation })
    }))
}
