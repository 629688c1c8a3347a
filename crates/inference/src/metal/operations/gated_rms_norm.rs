//! RMS norm of heads with a gate: `gated_rms_norm` of `delta_net.metal`.

use super::gemv::either;
use super::pack::PACKED_NUMBERS;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::delta_net as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "gated_rms_norm",
    kernels: &["gated_rms_norm"],
    variants: Variants::Activations,
    shape: "M=1 H=16 D=128",
    checks: &["M=2 H=3 D=40", "M=1 H=2 D=128"],
    bytes: |c| c.a(3.0 * c.mhd()) + 4.0 * c.d(),
    flops: |c| 9.0 * c.mhd(),
    build,
}];

/// [`gated_rms_norm`]: each head y = x / √(mean(x²) + ε) · w · silu(z).
#[derive(Clone, Copy, Debug)]
pub struct GatedRmsNorm<'a> {
    /// `[rows, heads · head_dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[rows, heads · head_dim]` activations: of the gate.
    pub z: BufferSlice<'a>,
    /// `[head_dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, heads · head_dim]` activations, which may be `x`, or packed.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Heads in a row.
    pub heads: usize,
    /// Numbers in a head.
    pub head_dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x, z and y.
    pub activation: Activation,
    /// Packs y: `head_dim` is a multiple of 32.
    pub packed_y: bool,
}

/// Normalizes heads by their root mean square, and multiplies them by a gate.
pub fn gated_rms_norm(encoding: &mut Encoding<'_>, op: GatedRmsNorm<'_>) -> Result<()> {
    let kernel = kernels::GatedRmsNorm::select(op.activation);
    let check = Check::new("gated_rms_norm", kernel.info());
    let head_dim = check.count("head_dim", op.head_dim)?;
    check.count("heads", op.heads)?;
    let x = check.room("x", &op.x, &[op.rows, op.heads, op.head_dim])?;
    let z = check.room("z", &op.z, &[op.rows, op.heads, op.head_dim])?;
    check.room("w", &op.w, &[op.head_dim])?;
    let y = match op.packed_y {
        true if !op.head_dim.is_multiple_of(PACKED_NUMBERS) => {
            return check.error(format_args!("{head_dim} numbers are not whole blocks of {PACKED_NUMBERS}"));
        }
        true => check.room("packed_y", &op.y, &[op.rows, op.heads, op.head_dim / PACKED_NUMBERS])?,
        false => check.room("y", &op.y, &[op.rows, op.heads, op.head_dim])?,
    };
    if op.packed_y {
        check.no_overlap(&y, &x)?
    } else {
        check.in_place_or_no_overlap(&y, &x)?
    }
    check.no_overlap(&y, &z)?;
    if op.rows == 0 {
        return Ok(());
    }
    let constants = kernels::GatedRmsNormConstants { head_dim, packed_y: op.packed_y };
    let [y, packed_y] = either(op.y, op.packed_y);
    let arguments = kernels::GatedRmsNormArgs { x: op.x, z: op.z, w: op.w, y, epsilon: op.epsilon, packed_y };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('H', op.heads), ('D', op.head_dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, op.rows, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let numbers = || maker.activations(&[rows, heads, head_dim], activation);
    let (x, z, w) = (numbers()?, numbers()?, maker.activations(&[head_dim], Activation::F32)?);
    let y = maker.output("y", &[rows, heads, head_dim], activation.into())?;
    let epsilon = maker.parameter(1e-5, 0.125);
    maker.expect(&y, || {
        let normed = formulas::rms_norm(&x.numbers(), &w.numbers(), epsilon);
        normed.iter().zip(z.numbers()).map(|(x, z)| x * z * formulas::sigmoid(z)).collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, z, w, y, packed_y) = (all(&x), all(&z), all(&w), y.slice(), false);
        gated_rms_norm(encoding, GatedRmsNorm { x, z, w, y, rows, heads, head_dim, epsilon, activation, packed_y })
    }))
}
