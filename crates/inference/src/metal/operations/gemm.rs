//! Matrix products by simdgroup matrices: `gemm.metal`.

use super::gemv::{Gemv, build_product, check_product};
use crate::cases::{Built, Case, Maker, Operation, Variants};
use crate::formats::Format;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::gemm as kernels;
use crate::metal::layout::TILE_ROWS;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "gemm",
    kernels: &["gemm"],
    variants: Variants::Weights(&Format::ALL),
    shape: "M=512 N=width K=width S=1",
    checks: &["M=37 N=70 K=96 S=4"],
    bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
    flops: |c| 2.0 * c.mnk(),
    build,
}];

/// Maximum number of simdgroups per threadgroup.
pub const MAX_SIMDGROUPS: usize = kernels::MAX_GEMM_SIMDGROUPS;

/// The product of [`super::gemv::gemv`] by simdgroup matrices: for many vectors, on devices with matrix units. A CPU
/// has none: with 512 vectors and F16 it reaches 49% of its peak this way and 79% with `gemv`, so it uses `gemv`.
///
/// The columns must be a multiple of 32. `simdgroups`, 1 to 4, share the weights that a threadgroup dequantizes.
pub fn gemm(encoding: &mut Encoding<'_>, op: Gemv<'_>, simdgroups: usize) -> Result<()> {
    let kernel = kernels::Gemm::select(op.w.format, op.activation);
    let check = Check::new("gemm", kernel.info());
    let matrix = check_product(&check, &op)?;
    matrix.whole_pieces(&check)?;
    if !(1..=MAX_SIMDGROUPS).contains(&simdgroups) {
        return check.error(format_args!("{simdgroups} simdgroups: they must be 1 to {MAX_SIMDGROUPS}"));
    }
    if op.m == 0 {
        return Ok(());
    }
    let constants = kernels::GemmConstants {
        k: matrix.columns,
        simdgroups: simdgroups as u32,
        bias: op.bias.is_some(),
        residual: op.residual.is_some(),
        tiled: matrix.tiled,
    };
    let p = &kernels::GemmParams { n: matrix.rows, m: check.count("m", op.m)? };
    let (w, x, y, bias, residual) = (op.w.data, op.x, op.y, op.bias, op.residual);
    let arguments = kernels::GemmArgs { w, x, y, bias, residual, p };
    let vectors = kernels::TILE_M * simdgroups;
    let grid = DispatchGrid::plane(op.m.div_ceil(vectors), op.w.rows.div_ceil(TILE_ROWS), simdgroups);
    encoding.describe(
        &OPERATIONS[0],
        (op.w.format, op.activation),
        &[('M', op.m), ('N', op.w.rows), ('K', op.w.columns)],
    );
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let w = maker.matrix(case, case.shape['N'], case.shape['K'])?;
    let simdgroups = case.shape['S'];
    build_product(maker, case, w, move |encoding, op| gemm(encoding, op, simdgroups))
}
