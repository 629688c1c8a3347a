//! Norm and residual add in one kernel: `rms_norm_add` of `norm.metal`.

use super::gemv::either;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::kernels::packed::PACKED_NUMBERS;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "rms_norm_add",
        kernels: &["rms_norm_add"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=401"],
        bytes: |c| c.a(3.0 * c.mn()) + 4.0 * c.n(),
        flops: |c| 6.0 * c.mn(),
        build,
    },
    Operation {
        name: "rms_norm_add_next",
        kernels: &["rms_norm_add"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=401"],
        bytes: |c| c.a(4.0 * c.mn()) + 8.0 * c.n(),
        flops: |c| 10.0 * c.mn(),
        build: build_next,
    },
];

/// [`rms_norm_add`]: h = h + rms_norm(x), and optionally the norm of that, for each row.
#[derive(Clone, Copy, Debug)]
pub struct RmsNormAdd<'a> {
    /// `[rows, dim]` activations: the residual stream, updated in place.
    pub h: BufferSlice<'a>,
    /// `[rows, dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// Norm of the sum.
    pub next: Option<NextNorm<'a>>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// ε of the norm of x.
    pub epsilon: f32,
    /// The type of h, x and y.
    pub activation: Activation,
}

/// Norm of the residual stream.
#[derive(Clone, Copy, Debug)]
pub struct NextNorm<'a> {
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, dim]` activations, which may be `x` but not `h`, or packed.
    pub y: BufferSlice<'a>,
    /// ε
    pub epsilon: f32,
    /// Packs y: `dim` is a multiple of 32.
    pub packed_y: bool,
}

/// Normalizes, adds to the residual stream, and normalizes the sum.
pub fn rms_norm_add(encoding: &mut Encoding<'_>, op: RmsNormAdd<'_>) -> Result<()> {
    let kernel = kernels::RmsNormAdd::select(op.activation);
    let check = Check::new("rms_norm_add", kernel.info());
    let dim = check.count("dim", op.dim)?;
    let h = check.room("h", &op.h, &[op.rows, op.dim])?;
    let x = check.room("x", &op.x, &[op.rows, op.dim])?;
    check.no_overlap(&h, &x)?;
    check.room("w", &op.w, &[op.dim])?;
    if let Some(next) = &op.next {
        check.room("next", &next.w, &[op.dim])?;
        if next.packed_y {
            if !op.dim.is_multiple_of(PACKED_NUMBERS) {
                return check.error(format_args!("{} numbers are not whole blocks of {PACKED_NUMBERS}", op.dim));
            }
            let y = check.room("packed_y", &next.y, &[op.rows, op.dim / PACKED_NUMBERS])?;
            check.no_overlap(&y, &h)?;
            check.no_overlap(&y, &x)?;
        } else {
            let y = check.room("y", &next.y, &[op.rows, op.dim])?;
            check.no_overlap(&y, &h)?;
            check.in_place_or_no_overlap(&y, &x)?;
        }
    }
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::RmsNormAddConstants {
        dim,
        simdgroups: simdgroups as u32,
        packed_y: op.next.is_some_and(|next| next.packed_y),
        next: op.next.is_some(),
    };
    let [y, packed_y] = op.next.map_or([None; 2], |next| either(next.y, next.packed_y));
    let arguments = kernels::RmsNormAddArgs {
        h: op.h,
        x: op.x,
        w: op.w,
        epsilon: op.epsilon,
        next: op.next.map(|next| next.w),
        y,
        packed_y,
        next_epsilon: op.next.map(|next| next.epsilon),
    };
    let operation = &OPERATIONS[usize::from(op.next.is_some())];
    encoding.describe(operation, op.activation, &[('M', op.rows), ('N', op.dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, false)
}

fn build_next(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, true)
}

fn build_with(maker: &Maker<'_>, case: &Case, has_next: bool) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let h = maker.activations(&[rows, dim], activation)?;
    let sums = maker.changed("h", &h, activation.into());
    // Measured runs add zeros: the residual stream stays finite however often the case runs.
    let x = match maker.is_check() {
        true => maker.activations(&[rows, dim], activation)?,
        false => maker.zero_activations(&[rows, dim], activation)?,
    };
    let (w, next) = (maker.activations(&[dim], Activation::F32)?, maker.activations(&[dim], Activation::F32)?);
    let y = has_next.then(|| maker.output("y", &[rows, dim], activation.into())).transpose()?;
    let (epsilon, next_epsilon) = (maker.parameter(1e-5, 0.125), maker.parameter(1e-5, 0.25));
    let sum = || formulas::sum(&h.numbers(), &formulas::rms_norm(&x.numbers(), &w.numbers(), epsilon));
    maker.expect(&sums, sum);
    if let Some(y) = &y {
        maker.expect(y, || formulas::rms_norm(&sum(), &next.numbers(), next_epsilon));
    }
    Ok(Box::new(move |encoding| {
        let (h, x, w) = (all(&h), all(&x), all(&w));
        let next =
            y.as_ref().map(|y| NextNorm { w: all(&next), y: y.slice(), epsilon: next_epsilon, packed_y: false });
        rms_norm_add(encoding, RmsNormAdd { h, x, w, next, rows, dim, epsilon, activation })
    }))
}
