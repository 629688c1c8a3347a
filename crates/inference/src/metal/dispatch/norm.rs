//! Norms: `norm.metal`.

use super::{Check, Encoding, Grid};
use crate::metal::format::Activation;
use crate::metal::kernels::norm as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

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
    let check = Check { operation: "rms_norm" };
    let dim = check.count("dim", op.dim)?;
    let size = op.activation.size();
    let x = check.room("x", &op.x, &[op.rows, op.dim], size)?;
    check.room("w", &op.w, &[op.dim], 4)?;
    let y = check.room("y", &op.y, &[op.rows, op.dim], size)?;
    check.in_place_or_apart(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::RMS_NORM_F32,
        Activation::F16 => kernels::RMS_NORM_F16,
    };
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::RmsNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::RmsNormArgs { x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, Grid::linear(op.rows, simdgroups))
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
    let check = Check { operation: "layer_norm" };
    let dim = check.count("dim", op.dim)?;
    let size = op.activation.size();
    let x = check.room("x", &op.x, &[op.rows, op.dim], size)?;
    check.room("w", &op.w, &[op.dim], 4)?;
    check.room("b", &op.b, &[op.dim], 4)?;
    let y = check.room("y", &op.y, &[op.rows, op.dim], size)?;
    check.in_place_or_apart(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::LAYER_NORM_F32,
        Activation::F16 => kernels::LAYER_NORM_F16,
    };
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::LayerNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::LayerNormArgs { x: op.x, w: op.w, b: op.b, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, Grid::linear(op.rows, simdgroups))
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
    let check = Check { operation: "add_rms_norm" };
    let dim = check.count("dim", op.dim)?;
    let size = op.activation.size();
    let h = check.room("h", &op.h, &[op.rows, op.dim], size)?;
    let x = check.room("x", &op.x, &[op.rows, op.dim], size)?;
    let y = check.room("y", &op.y, &[op.rows, op.dim], size)?;
    check.in_place_or_apart(&y, &x)?;
    check.apart(&h, &x)?;
    check.apart(&y, &h)?;
    check.room("w", &op.w, &[op.dim], 4)?;
    if op.rows == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::ADD_RMS_NORM_F32,
        Activation::F16 => kernels::ADD_RMS_NORM_F16,
    };
    let simdgroups = check.simdgroups(encoding, op.dim)?;
    let constants = kernels::AddRmsNormConstants { dim, simdgroups: simdgroups as u32 };
    let arguments = kernels::AddRmsNormArgs { h: op.h, x: op.x, w: op.w, y: op.y, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, Grid::linear(op.rows, simdgroups))
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
    let check = Check { operation: "head_rms_norm" };
    let dim = check.count("head_dim", op.head_dim)?;
    let stride = check.count("stride", op.stride)?;
    let heads = check.count("heads", op.heads)?;
    check.rows("x", &op.x, op.rows, op.stride, heads as usize * op.head_dim, op.activation.size())?;
    check.room("w", &op.w, &[op.head_dim], 4)?;
    if op.rows == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::HEAD_RMS_NORM_F32,
        Activation::F16 => kernels::HEAD_RMS_NORM_F16,
    };
    let constants = kernels::HeadRmsNormConstants { dim, stride };
    let arguments = kernels::HeadRmsNormArgs { x: op.x, w: op.w, epsilon: op.epsilon };
    encoding.dispatch(kernel, &constants, &arguments, Grid::plane(op.heads, op.rows, 1))
}
