//! Elementwise functions of two arguments: `elementwise.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

pub use crate::metal::kernels::elementwise::BinaryFunction;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "add",
        kernels: &["add"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| c.mn(),
        build: build_add,
    },
    Operation {
        name: "multiply",
        kernels: &["multiply"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| c.mn(),
        build: build_multiply,
    },
    Operation {
        name: "silu_multiply",
        kernels: &["silu_multiply"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 5.0 * c.mn(),
        build: build_silu_multiply,
    },
    Operation {
        name: "sigmoid_gate",
        kernels: &["sigmoid_gate"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 4.0 * c.mn(),
        build: build_sigmoid_gate,
    },
    Operation {
        name: "gelu_multiply",
        kernels: &["gelu_multiply"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 9.0 * c.mn(),
        build: build_gelu_multiply,
    },
    Operation {
        name: "clamped_swiglu",
        kernels: &["clamped_swiglu"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 9.0 * c.mn(),
        build: build_clamped_swiglu,
    },
];

/// [`binary`]: y = f(a, b).
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// The function f.
    pub function: BinaryFunction,
    /// `[n]` activations.
    pub a: BufferSlice<'a>,
    /// `[n]` activations.
    pub b: BufferSlice<'a>,
    /// `[n]` activations; may be `a` or `b`.
    pub y: BufferSlice<'a>,
    /// Number of elements.
    pub n: usize,
    /// The type of a, b and y.
    pub activation: Activation,
}

/// Applies a function to every pair of elements.
pub fn binary(encoding: &mut Encoding<'_>, op: Binary<'_>) -> Result<()> {
    let kernel = kernels::Binary::select(op.activation, op.function);
    let check = Check::new("binary", kernel.info());
    let y = check.room("y", &op.y, &[op.n])?;
    for (name, slice) in [("a", &op.a), ("b", &op.b)] {
        check.in_place_or_no_overlap(&y, &check.room(name, slice, &[op.n])?)?;
    }
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::BinaryArgs { a: op.a, b: op.b, y: op.y, n: check.count("n", op.n)? };
    let operation = match op.function {
        BinaryFunction::Add => 0,
        BinaryFunction::Multiply => 1,
        BinaryFunction::SiluMultiply => 2,
        BinaryFunction::SigmoidGate => 3,
        BinaryFunction::GeluMultiply => 4,
        BinaryFunction::ClampedSwiglu => 5,
    };
    encoding.describe(&OPERATIONS[operation], op.activation, &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::BinaryConstants {}, &arguments, DispatchGrid::elementwise(op.n))
}

fn build_add(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::Add, |a, b| a + b)
}

fn build_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::Multiply, |a, b| a * b)
}

fn build_silu_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::SiluMultiply, |a, b| a * formulas::sigmoid(a) * b)
}

fn build_sigmoid_gate(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::SigmoidGate, |a, b| a * formulas::sigmoid(b))
}

fn build_gelu_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::GeluMultiply, |a, b| formulas::gelu(a) * b)
}

fn build_clamped_swiglu(maker: &Maker<'_>, case: &Case) -> Built {
    build(maker, case, BinaryFunction::ClampedSwiglu, formulas::clamped_swiglu)
}

fn build(maker: &Maker<'_>, case: &Case, function: BinaryFunction, formula: fn(f64, f64) -> f64) -> Built {
    let (n, activation) = (case.count()?, case.activation);
    let (a, b) = (maker.activations(&[n], activation)?, maker.activations(&[n], activation)?);
    let y = maker.output("y", &[n], activation.into())?;
    maker.expect(&y, || a.numbers().into_iter().zip(b.numbers()).map(|(a, b)| formula(a, b)).collect());
    Ok(Box::new(move |encoding| {
        binary(encoding, Binary { function, a: all(&a), b: all(&b), y: y.slice(), n, activation })
    }))
}
