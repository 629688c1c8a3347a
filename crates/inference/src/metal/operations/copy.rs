//! Copies and type conversions: `elementwise.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "copy",
    kernels: &["copy"],
    variants: Variants::Weights(&Format::PLAIN),
    shape: "M=512 N=width",
    checks: &["M=3 N=77"],
    bytes: |c| c.w(c.mn()) + c.a(c.mn()),
    flops: |_| 0.0,
    build,
}];

/// [`copy`]: y = x, converted to the type of y.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// `[n]` numbers.
    pub x: BufferSlice<'a>,
    /// `[n]` numbers.
    pub y: BufferSlice<'a>,
    /// Number of elements.
    pub n: usize,
    /// The type of x: F32, F16 or BF16.
    pub from: Format,
    /// The type of y.
    pub to: Activation,
}

/// Copies numbers and converts their type.
pub fn copy(encoding: &mut Encoding<'_>, op: Copy<'_>) -> Result<()> {
    let Some(kernel) = kernels::Copy::select(op.from, op.to) else {
        return Check::new("copy", kernels::COPY_F32_F32.info())
            .error(format_args!("{} is not a type of plain numbers", op.from));
    };
    let check = Check::new("copy", kernel.info());
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let arguments = kernels::CopyArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    encoding.describe(&OPERATIONS[0], (op.from, op.to), &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::CopyConstants {}, &arguments, DispatchGrid::elementwise(op.n))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, from, to) = (case.count()?, case.format.unwrap_or(Format::F32), case.activation);
    let (x, y) = (maker.numbers(&[n], from)?, maker.output("y", &[n], to.into())?);
    maker.expect(&y, || x.numbers());
    Ok(Box::new(move |encoding| copy(encoding, Copy { x: all(&x), y: y.slice(), n, from, to })))
}
