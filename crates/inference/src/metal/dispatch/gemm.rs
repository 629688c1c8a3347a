//! Products with simdgroup matrices: `gemm.metal`.

use super::gemv::{Gemv, check_product};
use super::{Check, Encoding, Grid};
use crate::metal::format::{Activation, Format};
use crate::metal::kernels::gemm as kernels;
use crate::metal::layout::TILE_ROWS;
use crate::metal::library::Kernel;
use compute::Result;

/// Vectors of a simdgroup, as in the shader.
const TILE_M: usize = 8;

/// Simdgroups of a threadgroup at most, as in the shader.
pub const MAX_SIMDGROUPS: usize = 4;

/// What [`super::gemv::gemv`] computes, with simdgroup matrices: for many vectors on devices that have units for these. A CPU
/// has none; there, 512 vectors and F16 reach 49% of the peak this way, and 79% with `gemv`, which is the way to go.
///
/// Columns are a multiple of 32. `simdgroups`, 1 to 4, is how many share the weights that one threadgroup dequantizes.
pub fn gemm(encoding: &mut Encoding<'_>, op: Gemv<'_>, simdgroups: usize) -> Result<()> {
    let check = Check { operation: "gemm" };
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
    let grid = Grid::plane(op.m.div_ceil(TILE_M * simdgroups), op.w.rows.div_ceil(TILE_ROWS), simdgroups);
    encoding.dispatch(kernel(op.w.format, op.activation), &constants, &arguments, grid)
}

fn kernel(format: Format, activation: Activation) -> Kernel<kernels::Gemm> {
    let (f32, f16) = match format {
        Format::F32 => (kernels::GEMM_F32_F32, kernels::GEMM_F32_F16),
        Format::F16 => (kernels::GEMM_F16_F32, kernels::GEMM_F16_F16),
        Format::BF16 => (kernels::GEMM_BF16_F32, kernels::GEMM_BF16_F16),
        Format::Q8_0 => (kernels::GEMM_Q8_0_F32, kernels::GEMM_Q8_0_F16),
        Format::Q4_0 => (kernels::GEMM_Q4_0_F32, kernels::GEMM_Q4_0_F16),
        Format::Q4_1 => (kernels::GEMM_Q4_1_F32, kernels::GEMM_Q4_1_F16),
        Format::Q5_0 => (kernels::GEMM_Q5_0_F32, kernels::GEMM_Q5_0_F16),
        Format::Q5_1 => (kernels::GEMM_Q5_1_F32, kernels::GEMM_Q5_1_F16),
        Format::Q4_K => (kernels::GEMM_Q4_K_F32, kernels::GEMM_Q4_K_F16),
        Format::Q5_K => (kernels::GEMM_Q5_K_F32, kernels::GEMM_Q5_K_F16),
        Format::Q6_K => (kernels::GEMM_Q6_K_F32, kernels::GEMM_Q6_K_F16),
    };
    match activation {
        Activation::F32 => f32,
        Activation::F16 => f16,
    }
}
