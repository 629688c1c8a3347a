//! Softmax: `softmax.metal`.

use super::{Check, Encoding, Grid};
use crate::metal::format::Activation;
use crate::metal::kernels::softmax as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// [`softmax`]: y = softmax(scale · x) for each row.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<'a> {
    /// `[rows, n]` activations; −∞ is masked out.
    pub x: BufferSlice<'a>,
    /// `[rows, n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many rows.
    pub rows: usize,
    /// Numbers in a row.
    pub n: usize,
    /// What each is multiplied with before.
    pub scale: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Makes probabilities of rows.
pub fn softmax(encoding: &mut Encoding<'_>, op: Softmax<'_>) -> Result<()> {
    let check = Check { operation: "softmax" };
    let n = check.count("n", op.n)?;
    let x = check.room("x", &op.x, &[op.rows, op.n], op.activation.size())?;
    let y = check.room("y", &op.y, &[op.rows, op.n], op.activation.size())?;
    check.in_place_or_apart(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::SOFTMAX_F32,
        Activation::F16 => kernels::SOFTMAX_F16,
    };
    let params = kernels::SoftmaxParams { n, scale: op.scale };
    let simdgroups = check.simdgroups(encoding, op.n)?;
    let constants = kernels::SoftmaxConstants { simdgroups: simdgroups as u32 };
    let arguments = kernels::SoftmaxArgs { x: op.x, y: op.y, p: &params };
    encoding.dispatch(kernel, &constants, &arguments, Grid::linear(op.rows, simdgroups))
}
