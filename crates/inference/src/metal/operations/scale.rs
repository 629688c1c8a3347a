//! Multiplication by a scalar: `elementwise.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "scale",
    kernels: &["scale"],
    variants: Variants::Activations,
    shape: "M=1 N=width",
    checks: &["M=3 N=77"],
    bytes: |c| c.a(2.0 * c.mn()),
    flops: |c| c.mn(),
    build,
}];

/// [`scale`]: y = x · factor.
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a> {
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// Number of elements.
    pub n: usize,
    /// Factor of every element.
    pub factor: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Multiplies every element by the factor.
pub fn scale(encoding: &mut Encoding<'_>, op: Scale<'_>) -> Result<()> {
    let kernel = kernels::Scale::select(op.activation);
    let check = Check::new("scale", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.in_place_or_no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let params = kernels::ScaleParams { n: check.count("n", op.n)?, factor: op.factor };
    let arguments = kernels::ScaleArgs { x: op.x, y: op.y, p: &params };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::ScaleConstants {}, &arguments, DispatchGrid::elementwise(op.n))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (case.count()?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    let factor = 0.5;
    maker.expect(&y, || x.numbers().into_iter().map(|x| x * f64::from(factor)).collect());
    Ok(Box::new(move |encoding| scale(encoding, Scale { x: all(&x), y: y.slice(), n, factor, activation })))
}
