//! Residual add and norm in one kernel: `add_rms_norm` of `norm.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "add_rms_norm",
    kernels: &["add_rms_norm"],
    variants: Variants::Activations,
    shape: "M=1 N=width",
    checks: &["M=3 N=401"],
    bytes: |c| c.a(4.0 * c.mn()) + 4.0 * c.n(),
    flops: |c| 5.0 * c.mn(),
    build,
}];

/// [`add_rms_norm`]: h = h + x, then y = rms_norm(h), for each row.
#[derive(Clone, Copy, Debug)]
pub struct AddRmsNorm<'a> {
    /// `[rows, dim]` activations: the residual stream, updated in place.
    pub h: BufferSlice<'a>,
    /// `[rows, dim]` activations, added to the residual stream.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, dim]` activations; may be `x`, not `h`.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of h, x and y.
    pub activation: Activation,
}

/// Adds to the residual stream and normalizes the sum.
pub fn add_rms_norm(encoding: &mut Encoding<'_>, op: AddRmsNorm<'_>) -> Result<()> {
    let kernel = kernels::AddRmsNorm::select(op.activation);
    let check = Check::new("add_rms_norm", kernel.info());
    let dim = check.count("dim", op.dim)?;
    let h = check.room("h", &op.h, &[op.rows, op.dim])?;
    let x = check.room("x", &op.x, &[op.rows, op.dim])?;
    let y = check.room("y", &op.y, &[op.rows, op.dim])?;
    check.in_place_or_no_overlap(&y, &x)?;
    check.no_overlap(&h, &x)?;
    check.no_overlap(&y, &h)?;
    check.room("w", &op.w, &[op.dim])?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::AddRmsNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::AddRmsNormArgs { h: op.h, x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('N', op.dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let h = maker.activations(&[rows, dim], activation)?;
    let sums = maker.changed("h", &h, activation.into());
    // Measured runs add zeros: the residual stream stays finite however often the case runs.
    let x = match maker.is_check() {
        true => maker.activations(&[rows, dim], activation)?,
        false => maker.zero_activations(&[rows, dim], activation)?,
    };
    let y = maker.output("y", &[rows, dim], activation.into())?;
    let w = maker.activations(&[dim], Activation::F32)?;
    let epsilon = maker.parameter(1e-5, 0.125);
    let sum = || formulas::sum(&h.numbers(), &x.numbers());
    maker.expect(&sums, sum);
    maker.expect(&y, || formulas::rms_norm(&sum(), &w.numbers(), epsilon));
    Ok(Box::new(move |encoding| {
        let (h, x, w, y) = (all(&h), all(&x), all(&w), y.slice());
        add_rms_norm(encoding, AddRmsNorm { h, x, w, y, rows, dim, epsilon, activation })
    }))
}
