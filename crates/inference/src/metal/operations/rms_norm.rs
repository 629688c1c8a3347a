//! RMS norm of rows: `rms_norm` of `norm.metal`.

use super::gemv::either;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::kernels::packed::PACKED_NUMBERS;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "rms_norm",
    kernels: &["rms_norm"],
    variants: Variants::Activations,
    shape: "M=1 N=width",
    checks: &["M=3 N=401"],
    bytes: |c| c.a(2.0 * c.mn()) + 4.0 * c.n(),
    flops: |c| 4.0 * c.mn(),
    build,
}];

/// [`rms_norm`]: y = x / √(mean(x²) + ε) · w for each row.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm<'a> {
    /// `[rows, dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, dim]` activations, which may be `x`, or packed.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x and y.
    pub activation: Activation,
    /// Packs y: `dim` is a multiple of 32.
    pub packed_y: bool,
}

/// Normalizes rows by their root mean square.
pub fn rms_norm(encoding: &mut Encoding<'_>, op: RmsNorm<'_>) -> Result<()> {
    let kernel = kernels::RmsNorm::select(op.activation);
    let check = Check::new("rms_norm", kernel.info());
    let dim = check.count("dim", op.dim)?;
    let x = check.room("x", &op.x, &[op.rows, op.dim])?;
    check.room("w", &op.w, &[op.dim])?;
    if op.packed_y {
        if !op.dim.is_multiple_of(PACKED_NUMBERS) {
            return check.error(format_args!("{} numbers are not whole blocks of {PACKED_NUMBERS}", op.dim));
        }
        let y = check.room("packed_y", &op.y, &[op.rows, op.dim / PACKED_NUMBERS])?;
        check.no_overlap(&y, &x)?;
    } else {
        let y = check.room("y", &op.y, &[op.rows, op.dim])?;
        check.in_place_or_no_overlap(&y, &x)?;
    }
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::RmsNormConstants { dim, simdgroups: simdgroups as u32, packed_y: op.packed_y };
    let [y, packed_y] = either(op.y, op.packed_y);
    let arguments = kernels::RmsNormArgs { x: op.x, w: op.w, y, epsilon: op.epsilon, packed_y };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('N', op.dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) =
        (maker.activations(&[rows, dim], activation)?, maker.output("y", &[rows, dim], activation.into())?);
    let w = maker.activations(&[dim], Activation::F32)?;
    let epsilon = maker.parameter(1e-5, 0.125);
    maker.expect(&y, || formulas::rms_norm(&x.numbers(), &w.numbers(), epsilon));
    Ok(Box::new(move |encoding| {
        let (x, w, y) = (all(&x), all(&w), y.slice());
        rms_norm(encoding, RmsNorm { x, w, y, rows, dim, epsilon, activation, packed_y: false })
    }))
}
