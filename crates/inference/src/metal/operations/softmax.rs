//! Softmax: `softmax.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::softmax as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "softmax",
    kernels: &["softmax"],
    variants: Variants::Activations,
    shape: "M=32 N=4096",
    checks: &["M=3 N=401"],
    bytes: |c| c.a(2.0 * c.mn()),
    flops: |c| 5.0 * c.mn(),
    build,
}];

/// [`softmax`]: y = softmax(scale · x) for each row.
#[derive(Clone, Copy, Debug)]
pub struct Softmax<'a> {
    /// `[rows, n]` activations; −∞ masks an element out.
    pub x: BufferSlice<'a>,
    /// `[rows, n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers in a row.
    pub n: usize,
    /// Factor of x.
    pub scale: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Computes the softmax of each row.
pub fn softmax(encoding: &mut Encoding<'_>, op: Softmax<'_>) -> Result<()> {
    let kernel = kernels::Softmax::select(op.activation);
    let check = Check::new("softmax", kernel.info());
    let n = check.count("n", op.n)?;
    let x = check.room("x", &op.x, &[op.rows, op.n])?;
    let y = check.room("y", &op.y, &[op.rows, op.n])?;
    check.in_place_or_no_overlap(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let params = kernels::SoftmaxParams { n, scale: op.scale };
    let simdgroups = check.simdgroups(encoding, op.n)?;
    let constants = kernels::SoftmaxConstants { simdgroups: simdgroups as u32 };
    let arguments = kernels::SoftmaxArgs { x: op.x, y: op.y, p: &params };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('N', op.n)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::linear(op.rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.output("y", &[rows, n], activation.into())?);
    let scale = maker.parameter(1.0, 3.0);
    maker.expect(&y, || {
        let scaled: Vec<f64> = x.numbers().into_iter().map(|x| x * f64::from(scale)).collect();
        scaled.chunks(n).flat_map(formulas::softmax).collect()
    });
    Ok(Box::new(move |encoding| {
        softmax(encoding, Softmax { x: all(&x), y: y.slice(), rows, n, scale, activation })
    }))
}
