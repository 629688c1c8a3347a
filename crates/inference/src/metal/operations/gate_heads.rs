//! Gates of attention: `gate_heads` of `gated_attention.metal`.

use super::gemv::either;
use super::pack::PACKED_NUMBERS;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::gated_attention as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "gate_heads",
    kernels: &["gate_heads"],
    variants: Variants::Activations,
    shape: "M=1 H=8 D=256",
    checks: &["M=2 H=3 D=40"],
    bytes: |c| c.a(3.0 * c.mhd()),
    flops: |c| 4.0 * c.mhd(),
    build,
}];

/// [`gate_heads`]: each head y = a · sigmoid(gate).
#[derive(Clone, Copy, Debug)]
pub struct GateHeads<'a> {
    /// `[rows, heads, head_dim]` activations: the output of attention.
    pub a: BufferSlice<'a>,
    /// `[rows, heads, 2, head_dim]` activations: the query and the gate of each head.
    pub x: BufferSlice<'a>,
    /// `[rows, heads, head_dim]` activations, which may be `a`, or packed.
    pub y: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Heads in a row.
    pub heads: usize,
    /// Numbers in a head.
    pub head_dim: usize,
    /// The type of a, x and y.
    pub activation: Activation,
    /// Packs y: `head_dim` is a multiple of 32.
    pub packed_y: bool,
}

/// Multiplies heads by their gates.
pub fn gate_heads(encoding: &mut Encoding<'_>, op: GateHeads<'_>) -> Result<()> {
    let kernel = kernels::GateHeads::select(op.activation);
    let check = Check::new("gate_heads", kernel.info());
    let dim = check.count("head_dim", op.head_dim)?;
    check.count("heads", op.heads)?;
    let a = check.room("a", &op.a, &[op.rows, op.heads, op.head_dim])?;
    let x = check.room("x", &op.x, &[op.rows, op.heads, 2, op.head_dim])?;
    let y = match op.packed_y {
        true if !op.head_dim.is_multiple_of(PACKED_NUMBERS) => {
            return check.error(format_args!("{dim} numbers are not whole blocks of {PACKED_NUMBERS}"));
        }
        true => check.room("packed_y", &op.y, &[op.rows, op.heads, op.head_dim / PACKED_NUMBERS])?,
        false => check.room("y", &op.y, &[op.rows, op.heads, op.head_dim])?,
    };
    if op.packed_y {
        check.no_overlap(&y, &a)?
    } else {
        check.in_place_or_no_overlap(&y, &a)?
    }
    check.no_overlap(&y, &x)?;
    if op.rows == 0 {
        return Ok(());
    }
    let constants = kernels::GateHeadsConstants { dim, packed_y: op.packed_y };
    let [y, packed_y] = either(op.y, op.packed_y);
    let arguments = kernels::GateHeadsArgs { a: op.a, x: op.x, y, packed_y };
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', op.rows), ('H', op.heads), ('D', op.head_dim)]);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, op.rows, 1))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let a = maker.activations(&[rows, heads, head_dim], activation)?;
    let x = maker.activations(&[rows, heads, 2, head_dim], activation)?;
    let y = maker.output("y", &[rows, heads, head_dim], activation.into())?;
    maker.expect(&y, || {
        let (a, x) = (a.numbers(), x.numbers());
        let gates = x.chunks(2 * head_dim).flat_map(|both| &both[head_dim..]);
        a.iter().zip(gates).map(|(a, gate)| a * formulas::sigmoid(*gate)).collect()
    });
    Ok(Box::new(move |encoding| {
        let (a, x, y, packed_y) = (all(&a), all(&x), y.slice(), false);
        gate_heads(encoding, GateHeads { a, x, y, rows, heads, head_dim, activation, packed_y })
    }))
}
