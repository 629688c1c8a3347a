//! Queries, keys and values in one dispatch: `gemv_qkv` of `include/gemv.metal`.

use super::gemv::{GemvVariant, NormedInput, check_vectors, either};
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, Encoding, matrix};
use crate::metal::kernels::gemv as kernels;
use crate::metal::layout::{Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "gemv_qkv",
        kernels: &["gemv_qkv"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=1 H=heads G=kv_heads D=head_dim K=width",
        checks: &["M=2 H=3 G=1 D=33 K=288"],
        bytes: |c| c.w(c.qkv() * c.k()) + c.a(c.m() * (c.qkv() + c.k())),
        flops: |c| 2.0 * c.m() * c.qkv() * c.k(),
        build,
    },
    Operation {
        name: "gemv_qkv_packed",
        kernels: &["gemv_qkv"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=1 H=heads G=kv_heads D=head_dim K=width",
        checks: &["M=2 H=3 G=1 D=33 K=288"],
        bytes: |c| c.w(c.qkv() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.qkv()),
        flops: |c| 2.0 * c.m() * c.qkv() * c.k(),
        build: build_packed,
    },
];

/// [`gemv_qkv`]: q = wq x, k = wk x, v = wv x, with biases.
#[derive(Clone, Copy, Debug)]
pub struct GemvQkv<'a> {
    /// `[q rows, columns]` weights.
    pub wq: Matrix<'a>,
    /// `[kv rows, columns]` weights, in the format and layout of `wq`.
    pub wk: Matrix<'a>,
    /// `[kv rows, columns]` weights, in the format and layout of `wq`.
    pub wv: Matrix<'a>,
    /// `[m, columns]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// `[m, q rows]` activations.
    pub q: BufferSlice<'a>,
    /// `[m, kv rows]` activations.
    pub k: BufferSlice<'a>,
    /// `[m, kv rows]` activations.
    pub v: BufferSlice<'a>,
    /// f32 biases of q, k and v.
    pub biases: Option<[BufferSlice<'a>; 3]>,
    /// Number of vectors.
    pub m: usize,
    /// The type of x, q, k and v.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
}

/// Computes queries, keys and values in one dispatch.
pub fn gemv_qkv(encoding: &mut Encoding<'_>, op: GemvQkv<'_>) -> Result<()> {
    let rows = op.wq.rows.saturating_add(op.wk.rows).saturating_add(op.wv.rows);
    gemv_qkv_with(encoding, op, encoding.product(op.packed_x, op.m, &Matrix { rows, ..op.wq }))
}

/// [`gemv_qkv`] of vectors that lack the factor of their norm.
pub fn gemv_qkv_normed(encoding: &mut Encoding<'_>, op: GemvQkv<'_>, norm: NormedInput<'_>) -> Result<()> {
    let rows = op.wq.rows.saturating_add(op.wk.rows).saturating_add(op.wv.rows);
    let variant = encoding.product(op.packed_x, op.m, &Matrix { rows, ..op.wq });
    encode(encoding, op, variant, Some(norm))
}

/// [`gemv_qkv`] with a given variant.
pub fn gemv_qkv_with(encoding: &mut Encoding<'_>, op: GemvQkv<'_>, variant: GemvVariant) -> Result<()> {
    encode(encoding, op, variant, None)
}

fn encode(
    encoding: &mut Encoding<'_>,
    op: GemvQkv<'_>,
    variant: GemvVariant,
    norm: Option<NormedInput<'_>>,
) -> Result<()> {
    let kernel = kernels::GemvQkv::select(op.wq.format, op.activation);
    let check = Check::new("gemv_qkv", kernel.info());
    variant.check(&check, op.packed_x)?;
    let matrix = matrix(&check, "wq", &op.wq)?;
    matrix.stored_like(&check, "wk", &op.wk, op.wk.rows)?;
    matrix.stored_like(&check, "wv", &op.wv, op.wk.rows)?;
    check_vectors(&check, &op.x, op.packed_x, op.m, &op.wq)?;
    for (name, slice, rows) in [("q", &op.q, op.wq.rows), ("k", &op.k, op.wk.rows), ("v", &op.v, op.wk.rows)] {
        check.room(name, slice, &[op.m, rows])?;
    }
    let biases = [("q_bias", op.wq.rows), ("k_bias", op.wk.rows), ("v_bias", op.wk.rows)];
    for (bias, (name, rows)) in op.biases.iter().flatten().zip(biases) {
        check.room(name, bias, &[rows])?;
    }
    matrix.whole_pieces(&check)?;
    if let Some(norm) = &norm {
        norm.check(&check, op.packed_x, op.m, op.wq.columns)?;
    }
    if op.m == 0 {
        return Ok(());
    }
    let (m, kv_rows) = (check.count("m", op.m)?, check.count("kv rows", op.wk.rows)?);
    let tiles = op.wq.rows.div_ceil(TILE_ROWS) + 2 * op.wk.rows.div_ceil(TILE_ROWS);
    let constants = kernels::GemvQkvConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        bias: op.biases.is_some(),
        tiled: matrix.tiled,
        packed_x: op.packed_x,
        pairs: variant.pairs,
        normed_x: norm.is_some(),
    };
    let (squares, epsilon) = (norm.map(|norm| norm.squares), norm.map(|norm| norm.epsilon));
    let (wq, wk, wv) = (op.wq.data, op.wk.data, op.wv.data);
    let ([x, packed_x], q, k, v) = (either(op.x, op.packed_x), op.q, op.k, op.v);
    let [q_bias, k_bias, v_bias] = op.biases.map_or([None; 3], |biases| biases.map(Some));
    let p = &kernels::GemvQkvParams { q_rows: matrix.rows, kv_rows, m };
    let arguments =
        kernels::GemvQkvArgs { wq, wk, wv, x, q, k, v, q_bias, k_bias, v_bias, p, packed_x, squares, epsilon };
    let sizes = [('M', op.m), ('H', op.wq.rows), ('G', op.wk.rows), ('D', 1), ('K', op.wq.columns)];
    encoding.describe(&OPERATIONS[usize::from(op.packed_x)], (op.wq.format, op.activation), &sizes);
    encoding.dispatch(kernel, &constants, &arguments, variant.grid(op.m, tiles))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, false)
}

fn build_packed(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, true)
}

fn build_with(maker: &Maker<'_>, case: &Case, packed: bool) -> Built {
    let (m, columns, activation) = (case.shape['M'], case.shape['K'], case.activation);
    let rows = [case.shape['H'], case.shape['G']].map(|heads| heads.saturating_mul(case.shape['D']));
    let (wq, wk) = (maker.matrix(case, rows[0], columns)?, maker.matrix(case, rows[1], columns)?);
    let wv = maker.matrix(case, rows[1], columns)?;
    let (x, packed_x) = (maker.vectors(&[m, columns], activation, packed)?, packed);
    let result = |name, rows: usize| maker.output(name, &[m, rows], activation.into());
    let (q, k, v) = (result("q", rows[0])?, result("k", rows[1])?, result("v", rows[1])?);
    let bias = |rows: usize| maker.activations(&[rows], Activation::F32);
    let biases = match maker.is_check() {
        true => Some([bias(rows[0])?, bias(rows[1])?, bias(rows[1])?]),
        false => None,
    };
    if let Some(biases) = &biases {
        for ((output, w), bias) in [(&q, &wq), (&k, &wk), (&v, &wv)].into_iter().zip(biases) {
            maker.expect(output, || formulas::sum(&formulas::product(w, &x.numbers()), &bias.numbers()));
        }
    }
    Ok(Box::new(move |encoding| {
        let op = GemvQkv {
            wq: wq.matrix(),
            wk: wk.matrix(),
            wv: wv.matrix(),
            x: all(&x),
            q: q.slice(),
            k: k.slice(),
            v: v.slice(),
            biases: biases.as_ref().map(|biases| biases.each_ref().map(all)),
            m,
            activation,
            packed_x,
        };
        gemv_qkv(encoding, op)
    }))
}
