//! Elementwise functions of one argument: `elementwise.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

pub use crate::metal::kernels::elementwise::UnaryFunction;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "silu",
        kernels: &["silu"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.mn()),
        flops: |c| 4.0 * c.mn(),
        build: build_silu,
    },
    Operation {
        name: "gelu",
        kernels: &["gelu"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.mn()),
        flops: |c| 8.0 * c.mn(),
        build: build_gelu,
    },
    Operation {
        name: "relu_squared",
        kernels: &["relu_squared"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.mn()),
        flops: |c| 2.0 * c.mn(),
        build: build_relu_squared,
    },
];

/// [`unary`]: y = f(x).
#[derive(Clone, Copy, Debug)]
pub struct Unary<'a> {
    /// The function f.
    pub function: UnaryFunction,
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// Number of elements.
    pub n: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// Applies a function to every element.
pub fn unary(encoding: &mut Encoding<'_>, op: Unary<'_>) -> Result<()> {
    let kernel = kernels::Unary::select(op.activation, op.function);
    let check = Check::new("unary", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.in_place_or_no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::UnaryArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    let operation = match op.function {
        UnaryFunction::Silu => 0,
        UnaryFunction::Gelu => 1,
        UnaryFunction::ReluSquared => 2,
    };
    encoding.describe(&OPERATIONS[operation], op.activation, &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::UnaryConstants {}, &arguments, DispatchGrid::elementwise(op.n))
}

fn build_silu(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, UnaryFunction::Silu, |x| x * formulas::sigmoid(x))
}

fn build_gelu(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, UnaryFunction::Gelu, formulas::gelu)
}

fn build_relu_squared(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, UnaryFunction::ReluSquared, |x| x.max(0.0).powi(2))
}

fn build(maker: &Maker<'_>, case: &Case, function: UnaryFunction, formula: fn(f64) -> f64) -> Built {
    let (n, activation) = (case.count()?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    maker.expect(&y, || x.numbers().into_iter().map(formula).collect());
    Ok(Box::new(move |encoding| unary(encoding, Unary { function, x: all(&x), y: y.slice(), n, activation })))
}
