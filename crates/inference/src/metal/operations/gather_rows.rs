//! Rows in another order: `gather_rows` of `experts.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::experts as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "gather_rows",
    kernels: &["gather_rows"],
    variants: Variants::One,
    shape: "M=4096 N=width",
    checks: &["M=7 N=68"],
    bytes: |c| 8.0 * c.mn() + 4.0 * c.m(),
    flops: |_| 0.0,
    build,
}];

/// Bytes that a thread copies at a time.
const UNIT: usize = 16;

/// [`gather_rows`]: `y[i] = x[rows[i]]`.
#[derive(Clone, Copy, Debug)]
pub struct GatherRows<'a> {
    /// Rows of `row_bytes` bytes.
    pub x: BufferSlice<'a>,
    /// Number of rows of x, above all of `rows`.
    pub x_rows: usize,
    /// `[count]` u32.
    pub rows: BufferSlice<'a>,
    /// `count` rows of `row_bytes` bytes.
    pub y: BufferSlice<'a>,
    /// Number of rows to copy.
    pub count: usize,
    /// Size of a row: a multiple of 16 bytes.
    pub row_bytes: usize,
}

/// Copies rows of any type.
pub fn gather_rows(encoding: &mut Encoding<'_>, op: GatherRows<'_>) -> Result<()> {
    let kernel = kernels::GATHER_ROWS;
    let check = Check::new("gather_rows", kernel.info());
    if !op.row_bytes.is_multiple_of(UNIT) {
        return check.error(format_args!("rows of {} bytes: a multiple of {UNIT} is needed", op.row_bytes));
    }
    let units = op.row_bytes / UNIT;
    check.room("rows", &op.rows, &[op.count])?;
    let x = check.room("x", &op.x, &[op.x_rows, units])?;
    check.no_overlap(&check.room("y", &op.y, &[op.count, units])?, &x)?;
    if op.count == 0 || units == 0 {
        return Ok(());
    }
    let arguments =
        kernels::GatherRowsArgs { x: op.x, rows: op.rows, y: op.y, units: check.count("units", units)? };
    encoding.describe(&OPERATIONS[0], (), &[('M', op.count), ('N', op.row_bytes / 4)]);
    encoding.dispatch(kernel, &kernels::GatherRowsConstants {}, &arguments, DispatchGrid::linear(op.count, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, numbers) = (case.shape['M'], case.shape['N']);
    let x_rows = count.div_ceil(2);
    let x = maker.activations(&[x_rows, numbers], crate::formats::Activation::F32)?;
    let order: Vec<u32> = (0..count).map(|row| (row * 5 % x_rows) as u32).collect();
    let rows = maker.integers(&order)?;
    let y = maker.output("y", &[count, numbers], crate::cases::Number::F32)?;
    maker.expect(&y, || {
        let x = x.numbers();
        order.iter().flat_map(|row| x[*row as usize * numbers..][..numbers].to_vec()).collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, rows, y) = (all(&x), all(&rows), y.slice());
        gather_rows(encoding, GatherRows { x, x_rows, rows, y, count, row_bytes: 4 * numbers })
    }))
}
