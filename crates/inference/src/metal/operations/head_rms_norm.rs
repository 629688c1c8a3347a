//! RMS norm of heads, in place: `head_rms_norm` of `norm.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "head_rms_norm",
    kernels: &["head_rms_norm"],
    variants: Variants::Activations,
    shape: "M=1 H=heads D=head_dim",
    checks: &["M=2 H=3 D=40"],
    bytes: |c| c.a(2.0 * c.mhd()) + 4.0 * c.d(),
    flops: |c| 4.0 * c.mhd(),
    build,
}];

/// [`head_rms_norm`]: each head x = x / √(mean(x²) + ε) · w, in place.
#[derive(Clone, Copy, Debug)]
pub struct HeadRmsNorm<'a> {
    /// `[rows, stride]` activations; the first `heads · head_dim` of a row are its heads.
    pub x: BufferSlice<'a>,
    /// `[head_dim]` f32.
    pub w: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Heads in a row.
    pub heads: usize,
    /// Numbers in a head.
    pub head_dim: usize,
    /// Numbers from one row to the next, at least `heads · head_dim`.
    pub stride: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x.
    pub activation: Activation,
}

/// Normalizes heads by their root mean square, in place.
pub fn head_rms_norm(encoding: &mut Encoding<'_>, op: HeadRmsNorm<'_>) -> Result<()> {
    let kernel = kernels::HeadRmsNorm::select(op.activation);
    let check = Check::new("head_rms_norm", kernel.info());
    let dim = check.count("head_dim", op.head_dim)?;
    let stride = check.count("stride", op.stride)?;
    let heads = check.count("heads", op.heads)?;
    check.rows("x", &op.x, op.rows, op.stride, heads as usize * op.head_dim)?;
    check.room("w", &op.w, &[op.head_dim])?;
    if op.rows == 0 {
        return Ok(());
    }
    let constants = kernels::HeadRmsNormConstants { dim, stride };
    let arguments = kernels::HeadRmsNormArgs { x: op.x, w: op.w, epsilon: op.epsilon };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('H', op.heads), ('D', op.head_dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, op.rows, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let x = maker.activations(&[rows, stride], activation)?;
    let y = maker.changed("x", &x, activation.into());
    // Measured runs use weights of 1: normalizing again and again leaves the numbers as they are.
    let w = match maker.is_check() {
        true => maker.activations(&[head_dim], Activation::F32)?,
        false => maker.floats(&vec![1.0; head_dim])?,
    };
    let epsilon = maker.parameter(1e-5, 0.125);
    maker.expect(&y, || {
        let (x, w) = (x.numbers(), w.numbers());
        let rows = x.chunks(stride).flat_map(|row| {
            let (heads, rest) = row.split_at(heads * head_dim);
            [formulas::rms_norm(heads, &w, epsilon), rest.to_vec()].concat()
        });
        rows.collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, w) = (all(&x), all(&w));
        head_rms_norm(encoding, HeadRmsNorm { x, w, rows, heads, head_dim, stride, epsilon, activation })
    }))
}
