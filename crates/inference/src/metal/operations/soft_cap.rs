//! Soft caps: `elementwise.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "soft_cap",
    kernels: &["soft_cap"],
    variants: Variants::Activations,
    shape: "M=1 N=width",
    checks: &["M=3 N=77"],
    bytes: |c| c.a(2.0 * c.mn()),
    flops: |c| 5.0 * c.mn(),
    build,
}];

/// [`soft_cap`]: y = cap · tanh(x / cap).
#[derive(Clone, Copy, Debug)]
pub struct SoftCap<'a> {
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// Number of elements.
    pub n: usize,
    /// Bound of the results: above 0.
    pub cap: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Bounds every element smoothly.
pub fn soft_cap(encoding: &mut Encoding<'_>, op: SoftCap<'_>) -> Result<()> {
    let kernel = kernels::SoftCap::select(op.activation);
    let check = Check::new("soft_cap", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.in_place_or_no_overlap(&y, &x)?;
    if !(op.cap.is_finite() && op.cap > 0.0) {
        return check.error(format_args!("the cap is {}: it must be above 0", op.cap));
    }
    if op.n == 0 {
        return Ok(());
    }
    let params = kernels::ScaleParams { n: check.count("n", op.n)?, factor: op.cap };
    let arguments = kernels::SoftCapArgs { x: op.x, y: op.y, p: &params };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::SoftCapConstants {}, &arguments, DispatchGrid::elementwise(op.n))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (case.count()?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    let cap = 1.5;
    maker.expect(&y, || x.numbers().into_iter().map(|x| f64::from(cap) * (x / f64::from(cap)).tanh()).collect());
    Ok(Box::new(move |encoding| soft_cap(encoding, SoftCap { x: all(&x), y: y.slice(), n, cap, activation })))
}
