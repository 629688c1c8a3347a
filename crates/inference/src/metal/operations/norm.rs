//! Norms: `norm.metal`.

use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::norm as kernels;
use crate::metal::library::BufferSlice;
use crate::operations::{Operation, Variants};
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "rms_norm",
        kernels: &["rms_norm"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=401"],
        bytes: |c| c.a(2.0 * c.mn()) + 4.0 * c.n(),
        flops: |c| 4.0 * c.mn(),
        build: crate::operations::build::rows::rms_norm,
    },
    Operation {
        name: "layer_norm",
        kernels: &["layer_norm"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=401"],
        bytes: |c| c.a(2.0 * c.mn()) + 8.0 * c.n(),
        flops: |c| 7.0 * c.mn(),
        build: crate::operations::build::rows::layer_norm,
    },
    Operation {
        name: "add_rms_norm",
        kernels: &["add_rms_norm"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=401"],
        bytes: |c| c.a(4.0 * c.mn()) + 4.0 * c.n(),
        flops: |c| 5.0 * c.mn(),
        build: crate::operations::build::rows::add_rms_norm,
    },
    Operation {
        name: "head_rms_norm",
        kernels: &["head_rms_norm"],
        variants: Variants::Activations,
        shape: "M=1 H=heads D=head_dim",
        checks: &["M=2 H=3 D=40"],
        bytes: |c| c.a(2.0 * c.mhd()) + 4.0 * c.d(),
        flops: |c| 4.0 * c.mhd(),
        build: crate::operations::build::rows::head_rms_norm,
    },
];

/// [`rms_norm`]: y = x / √(mean(x²) + ε) · w for each row.
#[derive(Clone, Copy, Debug)]
pub struct RmsNorm<'a> {
    /// `[rows, dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, dim]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many rows.
    pub rows: usize,
    /// Numbers in a row.
    pub dim: usize,
    /// ε
    pub epsilon: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Normalizes rows by their root mean square.
pub fn rms_norm(encoding: &mut Encoding<'_>, op: RmsNorm<'_>) -> Result<()> {
    let kernel = kernels::RmsNorm::select(op.activation);
    let check = Check::new("rms_norm", kernel.info());
    let dim = check.count("dim", op.dim)?;
    let x = check.room("x", &op.x, &[op.rows, op.dim])?;
    check.room("w", &op.w, &[op.dim])?;
    let y = check.room("y", &op.y, &[op.rows, op.dim])?;
    check.in_place_or_apart(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::RmsNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::RmsNormArgs { x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

/// [`layer_norm`]: y = (x − mean(x)) / √(variance(x) + ε) · w + b for each row.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm<'a> {
    /// `[rows, dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[dim]` f32.
    pub b: BufferSlice<'a>,
    /// `[rows, dim]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many rows.
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
    check.room("b", &op.b, &[op.dim])?;
    let y = check.room("y", &op.y, &[op.rows, op.dim])?;
    check.in_place_or_apart(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::LayerNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::LayerNormArgs { x: op.x, w: op.w, b: op.b, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

/// [`add_rms_norm`]: h = h + x, then y = rms_norm(h), for each row.
#[derive(Clone, Copy, Debug)]
pub struct AddRmsNorm<'a> {
    /// `[rows, dim]` activations: the residual stream, updated.
    pub h: BufferSlice<'a>,
    /// `[rows, dim]` activations, added to it.
    pub x: BufferSlice<'a>,
    /// `[dim]` f32.
    pub w: BufferSlice<'a>,
    /// `[rows, dim]` activations; may be `x`, not `h`.
    pub y: BufferSlice<'a>,
    /// How many rows.
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
    check.in_place_or_apart(&y, &x)?;
    check.apart(&h, &x)?;
    check.apart(&y, &h)?;
    check.room("w", &op.w, &[op.dim])?;
    if op.rows == 0 {
        return Ok(());
    }
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::AddRmsNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::AddRmsNormArgs { h: op.h, x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

/// [`head_rms_norm`]: each head x = x / √(mean(x²) + ε) · w, in place.
#[derive(Clone, Copy, Debug)]
pub struct HeadRmsNorm<'a> {
    /// `[rows, stride]` activations, of which the first `heads · head_dim` of a row are the heads.
    pub x: BufferSlice<'a>,
    /// `[head_dim]` f32.
    pub w: BufferSlice<'a>,
    /// How many rows.
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
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, op.rows, 1))
}
