//! One number at a time: `elementwise.metal`.

use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
pub use crate::metal::kernels::elementwise::{BinaryFunction, UnaryFunction};
use crate::metal::library::BufferSlice;
use crate::operations::{Operation, Variants};
use compute::Result;

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
        build: crate::operations::build::elementwise::silu,
    },
    Operation {
        name: "gelu",
        kernels: &["gelu"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.mn()),
        flops: |c| 8.0 * c.mn(),
        build: crate::operations::build::elementwise::gelu,
    },
    Operation {
        name: "add",
        kernels: &["add"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| c.mn(),
        build: crate::operations::build::elementwise::add,
    },
    Operation {
        name: "multiply",
        kernels: &["multiply"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| c.mn(),
        build: crate::operations::build::elementwise::multiply,
    },
    Operation {
        name: "silu_multiply",
        kernels: &["silu_multiply"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 5.0 * c.mn(),
        build: crate::operations::build::elementwise::silu_multiply,
    },
    Operation {
        name: "sigmoid_gate",
        kernels: &["sigmoid_gate"],
        variants: Variants::Activations,
        shape: "M=1 N=ff",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(3.0 * c.mn()),
        flops: |c| 4.0 * c.mn(),
        build: crate::operations::build::elementwise::sigmoid_gate,
    },
    Operation {
        name: "scale",
        kernels: &["scale"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=77"],
        bytes: |c| c.a(2.0 * c.mn()),
        flops: |c| c.mn(),
        build: crate::operations::build::elementwise::scale,
    },
    Operation {
        name: "copy",
        kernels: &["copy"],
        variants: Variants::Weights(&Format::PLAIN),
        shape: "M=512 N=width",
        checks: &["M=3 N=77"],
        bytes: |c| c.w(c.mn()) + c.a(c.mn()),
        flops: |_| 0.0,
        build: crate::operations::build::elementwise::copy,
    },
];

/// Simdgroups in a threadgroup: enough to do that starting it does not count.
const SIMDGROUPS: usize = 8;

/// [`unary`]: y = f(x).
#[derive(Clone, Copy, Debug)]
pub struct Unary<'a> {
    /// What is computed.
    pub function: UnaryFunction,
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// A function of every number.
pub fn unary(encoding: &mut Encoding<'_>, op: Unary<'_>) -> Result<()> {
    let kernel = kernels::Unary::select(op.activation, op.function);
    let check = Check::new("unary", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.in_place_or_apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::UnaryArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::UnaryConstants {}, &arguments, grid(op.n))
}

/// [`binary`]: y = f(a, b).
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// What is computed.
    pub function: BinaryFunction,
    /// `[n]` activations.
    pub a: BufferSlice<'a>,
    /// `[n]` activations.
    pub b: BufferSlice<'a>,
    /// `[n]` activations; may be `a` or `b`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// The type of a, b and y.
    pub activation: Activation,
}

/// A function of every pair of numbers.
pub fn binary(encoding: &mut Encoding<'_>, op: Binary<'_>) -> Result<()> {
    let kernel = kernels::Binary::select(op.activation, op.function);
    let check = Check::new("binary", kernel.info());
    let y = check.room("y", &op.y, &[op.n])?;
    for (name, slice) in [("a", &op.a), ("b", &op.b)] {
        check.in_place_or_apart(&y, &check.room(name, slice, &[op.n])?)?;
    }
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::BinaryArgs { a: op.a, b: op.b, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::BinaryConstants {}, &arguments, grid(op.n))
}

/// [`scale`]: y = x · factor.
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a> {
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// What each is multiplied with.
    pub factor: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Multiplies every number.
pub fn scale(encoding: &mut Encoding<'_>, op: Scale<'_>) -> Result<()> {
    let kernel = kernels::Scale::select(op.activation);
    let check = Check::new("scale", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.in_place_or_apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let params = kernels::ScaleParams { n: check.count("n", op.n)?, factor: op.factor };
    let arguments = kernels::ScaleArgs { x: op.x, y: op.y, p: &params };
    encoding.dispatch(kernel, &kernels::ScaleConstants {}, &arguments, grid(op.n))
}

/// [`copy`]: the same numbers elsewhere, or in another type.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// `[n]` numbers.
    pub x: BufferSlice<'a>,
    /// `[n]` numbers.
    pub y: BufferSlice<'a>,
    /// Count.
    pub n: usize,
    /// The type of x: F32, F16 or BF16.
    pub from: Format,
    /// The type of y.
    pub to: Activation,
}

/// Copies numbers and converts them.
pub fn copy(encoding: &mut Encoding<'_>, op: Copy<'_>) -> Result<()> {
    let Some(kernel) = kernels::Copy::select(op.from, op.to) else {
        return Check::new("copy", kernels::COPY_F32_F32.info())
            .error(format_args!("{} is not a type of plain numbers", op.from));
    };
    let check = Check::new("copy", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::CopyArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::CopyConstants {}, &arguments, grid(op.n))
}

fn grid(n: usize) -> DispatchGrid {
    DispatchGrid::linear(n.div_ceil(SIMDGROUPS * kernels::PER_SIMDGROUP), SIMDGROUPS)
}
