//! Copies one row of a matrix: `take_row` of `sequence.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter};
use crate::metal::kernels::sequence as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "take_row",
    kernels: &["take_row"],
    variants: Variants::Activations,
    shape: "M=512 N=width",
    checks: &["M=3 N=77"],
    bytes: |c| c.a(2.0 * c.n()),
    flops: |_| 0.0,
    build,
}];

/// [`take_row`]: `y = x[row]`.
#[derive(Clone, Copy, Debug)]
pub struct TakeRow<'a> {
    /// `[at least row + 1, n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations.
    pub y: BufferSlice<'a>,
    /// Index of the row.
    pub row: usize,
    /// Numbers in a row.
    pub n: usize,
    /// The type of x and y.
    pub activation: Activation,
}

impl TakeRow<'_> {
    pub(crate) const ROW: PatchedParameter =
        PatchedParameter { index: kernels::TakeRowArgs::P_INDEX, offset: offset_of!(kernels::TakeRowParams, row) };
}

/// Copies a row.
pub fn take_row(encoding: &mut Encoding<'_>, op: TakeRow<'_>) -> Result<()> {
    let kernel = kernels::TakeRow::select(op.activation);
    let check = Check::new("take_row", kernel.info());
    let x = check.room("x", &op.x, &[op.row.saturating_add(1), op.n])?;
    let y = check.room("y", &op.y, &[op.n])?;
    check.no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let p = &kernels::TakeRowParams { row: check.count("row", op.row + 1)? - 1, n: check.count("n", op.n)? };
    let arguments = kernels::TakeRowArgs { x: op.x, y: op.y, p };
    encoding.describe(&OPERATIONS[0], op.activation, &[('N', op.n)]);
    encoding.dispatch(kernel, &kernels::TakeRowConstants {}, &arguments, DispatchGrid::threads(op.n))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.output("y", &[n], activation.into())?);
    let row = rows - 1;
    maker.expect(&y, || x.numbers()[row * n..][..n].to_vec());
    Ok(Box::new(move |encoding| take_row(encoding, TakeRow { x: all(&x), y: y.slice(), row, n, activation })))
}
