//! Layer norm of rows: `layer_norm` of `norm.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "layer_norm",
    kernels: &["layer_norm"],
    variants: Variants::Activations,
    shape: "M=1 N=width",
    checks: &["M=3 N=401"],
    bytes: |c| c.a(2.0 * c.mn()) + 8.0 * c.n(),
    flops: |c| 7.0 * c.mn(),
    build,
}];

/// [`layer_norm`]: y = (x − mean(x)) / √(variance(x) + ε) · w + b for each row.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'a> {
    /// `[rows, dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[dim]` f32, if any.
    pub b: Option<BufferSlice<'a>>,
    /// `[rows, dim]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Normalizes rows by their mean and variance.
pub fn layer_norm(encoding: &mut Encoding<'_>, op: LayerNorm<'_>) -> Result<()> {
    let kernel = kernels::LayerNorm::select(op.activation);
    let check = Check::new("layer_norm", kernel.info());
    let dim = check.count("dim", op.dim)?;
    let x = check.room("x", &op.x, &[op.rows, op.dim])?;
    check.room("w", &op.w, &[op.dim])?;
    if let Some(b) = &op.b {
        check.room("b", b, &[op.dim])?;
    }
    let y = check.room("y", &op.y, &[op.rows, op.dim])?;
    check.in_place_or_no_overlap(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::LayerNormConstants { dim, simdgroups: simdgroups as u32, shift: op.b.is_some() };
    let arguments = kernels::LayerNormArgs { x: op.x, w: op.w, b: op.b, y: op.y, epsilon: op.epsilon };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('N', op.dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) =
        (maker.activations(&[rows, dim], activation)?, maker.output("y", &[rows, dim], activation.into())?);
    let (w, b) = (maker.activations(&[dim], Activation::F32)?, maker.activations(&[dim], Activation::F32)?);
    let epsilon = maker.parameter(1e-5, 0.125);
    // The RMS norm of the differences from the mean.
    maker.expect(&y, || {
        let centered = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / dim as f64;
            row.iter().map(|x| x - mean).collect::<Vec<f64>>()
        };
        let centered: Vec<f64> = x.numbers().chunks(dim).flat_map(centered).collect();
        formulas::sum(&formulas::rms_norm(&centered, &w.numbers(), epsilon), &b.numbers())
    });
    Ok(Box::new(move |encoding| {
        let (x, w, b, y) = (all(&x), all(&w), Some(all(&b)), y.slice());
        layer_norm(encoding, LayerNorm { x, w, b, y, rows, dim, epsilon, activation })
    }))
}
