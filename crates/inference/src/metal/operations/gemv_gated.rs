//! Gate and up projection of a feed-forward network: `gemv_gated` of `include/gemv.metal`.

use super::gemv::{GemvVariant, NormedInput, check_vectors, either};
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, Encoding, matrix};
use crate::metal::kernels::gemv as kernels;
use crate::metal::kernels::packed::PACKED_NUMBERS;
use crate::metal::layout::{Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "gemv_gated",
        kernels: &["gemv_gated"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=1 N=ff K=width",
        checks: &["M=3 N=37 K=288"],
        bytes: |c| c.w(2.0 * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 4.0 * c.mnk() + 5.0 * c.mn(),
        build,
    },
    Operation {
        name: "gemv_gated_packed",
        kernels: &["gemv_gated"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=1 N=ff K=width",
        checks: &["M=3 N=37 K=288"],
        bytes: |c| c.w(2.0 * c.n() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.n()),
        flops: |c| 4.0 * c.mnk() + 5.0 * c.mn(),
        build: build_packed,
    },
    Operation {
        name: "gemv_gated_gelu",
        kernels: &["gemv_gated"],
        variants: Variants::Weights(&Format::PLAIN),
        shape: "M=1 N=ff K=width",
        checks: &["M=3 N=37 K=288"],
        bytes: |c| c.w(2.0 * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 4.0 * c.mnk() + 5.0 * c.mn(),
        build: build_gelu,
    },
];

/// [`gemv_gated`]: `y[m,n] = f(Σ_k gate[n,k] · x[m,k]) · Σ_k up[n,k] · x[m,k]`.
#[derive(Clone, Copy, Debug)]
pub struct GemvGated<'a> {
    /// `[n, k]` weights.
    pub gate: Matrix<'a>,
    /// `[n, k]` weights, in the format and layout of `gate`.
    pub up: Matrix<'a>,
    /// `[m, k]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// `[m, n]` activations, or packed.
    pub y: BufferSlice<'a>,
    /// The function f.
    pub function: GateFunction,
    /// Number of vectors.
    pub m: usize,
    /// The type of x and y.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
    /// Packs y.
    pub packed_y: bool,
}

/// Function of the gate of a feed-forward network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum GateFunction {
    /// x · sigmoid(x)
    #[default]
    Silu,
    /// x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
    Gelu,
}

/// Computes the first half of a gated feed-forward network in one dispatch.
pub fn gemv_gated(encoding: &mut Encoding<'_>, op: GemvGated<'_>) -> Result<()> {
    gemv_gated_with(encoding, op, encoding.product(op.packed_x, op.m, &op.gate))
}

/// [`gemv_gated`] of vectors that lack the factor of their norm.
pub fn gemv_gated_normed(encoding: &mut Encoding<'_>, op: GemvGated<'_>, norm: NormedInput<'_>) -> Result<()> {
    let variant = encoding.product(op.packed_x, op.m, &op.gate);
    encode(encoding, op, variant, Some(norm))
}

/// [`gemv_gated`] with a given variant.
pub fn gemv_gated_with(encoding: &mut Encoding<'_>, op: GemvGated<'_>, variant: GemvVariant) -> Result<()> {
    encode(encoding, op, variant, None)
}

fn encode(
    encoding: &mut Encoding<'_>,
    op: GemvGated<'_>,
    variant: GemvVariant,
    norm: Option<NormedInput<'_>>,
) -> Result<()> {
    let kernel = kernels::GemvGated::select(op.gate.format, op.activation);
    let check = Check::new("gemv_gated", kernel.info());
    variant.check(&check, op.packed_x)?;
    let matrix = matrix(&check, "gate", &op.gate)?;
    matrix.stored_like(&check, "up", &op.up, op.gate.rows)?;
    check_vectors(&check, &op.x, op.packed_x, op.m, &op.gate)?;
    match op.packed_y {
        false => check.room("y", &op.y, &[op.m, op.gate.rows])?,
        true => check.room("packed_y", &op.y, &[op.m, op.gate.rows.div_ceil(PACKED_NUMBERS)])?,
    };
    matrix.whole_pieces(&check)?;
    if let Some(norm) = &norm {
        norm.check(&check, op.packed_x, op.m, op.gate.columns)?;
    }
    if op.m == 0 {
        return Ok(());
    }
    let constants = kernels::GemvGatedConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        tiled: matrix.tiled,
        packed_x: op.packed_x,
        pairs: variant.pairs,
        packed_y: op.packed_y,
        normed_x: norm.is_some(),
        gelu: op.function == GateFunction::Gelu,
        bias: false,
        experts: false,
        clamped_gate: false,
    };
    let (squares, epsilon) = (norm.map(|norm| norm.squares), norm.map(|norm| norm.epsilon));
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let (gate, up) = (op.gate.data, op.up.data);
    let ([x, packed_x], [y, packed_y]) = (either(op.x, op.packed_x), either(op.y, op.packed_y));
    let arguments = kernels::GemvGatedArgs {
        gate,
        up,
        x,
        y,
        p,
        packed_x,
        packed_y,
        squares,
        epsilon,
        gate_bias: None,
        up_bias: None,
        tiles: None,
    };
    encoding.describe(
        &OPERATIONS[usize::from(op.packed_x)],
        (op.gate.format, op.activation),
        &[('M', op.m), ('N', op.gate.rows), ('K', op.gate.columns)],
    );
    encoding.dispatch(kernel, &constants, &arguments, variant.grid(op.m, op.gate.rows.div_ceil(TILE_ROWS)))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, false, GateFunction::Silu)
}

fn build_packed(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, true, GateFunction::Silu)
}

fn build_gelu(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, false, GateFunction::Gelu)
}

fn build_with(maker: &Maker<'_>, case: &Case, packed_x: bool, function: GateFunction) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (gate, up) = (maker.matrix(case, n, k)?, maker.matrix(case, n, k)?);
    let packed_y = false;
    let (x, y) = (maker.vectors(&[m, k], activation, packed_x)?, maker.output("y", &[m, n], activation.into())?);
    maker.expect(&y, || {
        let gated = |(gate, up): (f64, f64)| match function {
            GateFunction::Silu => gate * formulas::sigmoid(gate) * up,
            GateFunction::Gelu => formulas::gelu(gate) * up,
        };
        let (gate, up) = (formulas::product(&gate, &x.numbers()), formulas::product(&up, &x.numbers()));
        gate.into_iter().zip(up).map(gated).collect()
    });
    Ok(Box::new(move |encoding| {
        let (gate, up, x, y) = (gate.matrix(), up.matrix(), all(&x), y.slice());
        gemv_gated(encoding, GemvGated { gate, up, x, y, function, m, activation, packed_x, packed_y })
    }))
}
