//! Rows of a table: `embedding.metal`.

use super::matrix::matrix;
use super::{Check, Encoding, Grid, SIMD_WIDTH};
use crate::metal::format::{Activation, Format};
use crate::metal::kernels::embedding as kernels;
use crate::metal::layout::Matrix;
use crate::metal::library::{BufferSlice, Kernel};
use compute::Result;

/// Simdgroups in a threadgroup, each with 32 numbers of a row, or four times as many from tiles.
const SIMDGROUPS: usize = 8;

/// [`embedding`]: `y[t] = table[tokens[t]] · scale`.
#[derive(Clone, Copy, Debug)]
pub struct Embedding<'a> {
    /// `[vocabulary, dim]` numbers.
    pub table: Matrix<'a>,
    /// `[count]` u32. One that is no row of the table gives a row of NaN.
    pub tokens: BufferSlice<'a>,
    /// `[count, dim]` activations.
    pub y: BufferSlice<'a>,
    /// How many tokens.
    pub count: usize,
    /// What every number is multiplied with; 1 for most models.
    pub scale: f32,
    /// The type of y.
    pub activation: Activation,
}

/// Looks up rows of a table.
pub fn embedding(encoding: &mut Encoding<'_>, op: Embedding<'_>) -> Result<()> {
    let check = Check { operation: "embedding" };
    let table = matrix(&check, "table", &op.table)?;
    check.room("tokens", &op.tokens, &[op.count], 4)?;
    check.room("y", &op.y, &[op.count, op.table.columns], op.activation.size())?;
    if op.count == 0 {
        return Ok(());
    }
    let (dim, vocabulary, simdgroups) = (table.columns, table.rows, SIMDGROUPS as u32);
    let (data, tokens, y, scale) = (op.table.data, op.tokens, op.y, op.scale);
    let grid = |per_thread: usize| {
        Grid::plane(op.table.columns.div_ceil(SIMDGROUPS * SIMD_WIDTH * per_thread), op.count, SIMDGROUPS)
    };
    if table.tiled {
        table.whole_pieces(&check)?;
        let constants = kernels::EmbeddingTilesConstants { dim, vocabulary, simdgroups, tiled: true };
        let arguments = kernels::EmbeddingTilesArgs { table: data, tokens, y, scale };
        return encoding.dispatch(
            kernel_for_tiles(op.table.format, op.activation),
            &constants,
            &arguments,
            grid(4),
        );
    }
    let constants = kernels::EmbeddingConstants { dim, vocabulary, simdgroups };
    let arguments = kernels::EmbeddingArgs { table: data, tokens, y, scale };
    encoding.dispatch(kernel(op.table.format, op.activation), &constants, &arguments, grid(1))
}

fn kernel(format: Format, activation: Activation) -> Kernel<kernels::Embedding> {
    let (f32, f16) = match format {
        Format::F32 => (kernels::EMBEDDING_F32_F32, kernels::EMBEDDING_F32_F16),
        Format::F16 => (kernels::EMBEDDING_F16_F32, kernels::EMBEDDING_F16_F16),
        Format::BF16 => (kernels::EMBEDDING_BF16_F32, kernels::EMBEDDING_BF16_F16),
        Format::Q8_0 => (kernels::EMBEDDING_Q8_0_F32, kernels::EMBEDDING_Q8_0_F16),
        Format::Q4_0 => (kernels::EMBEDDING_Q4_0_F32, kernels::EMBEDDING_Q4_0_F16),
        Format::Q4_1 => (kernels::EMBEDDING_Q4_1_F32, kernels::EMBEDDING_Q4_1_F16),
        Format::Q5_0 => (kernels::EMBEDDING_Q5_0_F32, kernels::EMBEDDING_Q5_0_F16),
        Format::Q5_1 => (kernels::EMBEDDING_Q5_1_F32, kernels::EMBEDDING_Q5_1_F16),
        Format::Q4_K => (kernels::EMBEDDING_Q4_K_F32, kernels::EMBEDDING_Q4_K_F16),
        Format::Q5_K => (kernels::EMBEDDING_Q5_K_F32, kernels::EMBEDDING_Q5_K_F16),
        Format::Q6_K => (kernels::EMBEDDING_Q6_K_F32, kernels::EMBEDDING_Q6_K_F16),
    };
    match activation {
        Activation::F32 => f32,
        Activation::F16 => f16,
    }
}

fn kernel_for_tiles(format: Format, activation: Activation) -> Kernel<kernels::EmbeddingTiles> {
    let (f32, f16) = match format {
        Format::F32 => (kernels::EMBEDDING_TILES_F32_F32, kernels::EMBEDDING_TILES_F32_F16),
        Format::F16 => (kernels::EMBEDDING_TILES_F16_F32, kernels::EMBEDDING_TILES_F16_F16),
        Format::BF16 => (kernels::EMBEDDING_TILES_BF16_F32, kernels::EMBEDDING_TILES_BF16_F16),
        Format::Q8_0 => (kernels::EMBEDDING_TILES_Q8_0_F32, kernels::EMBEDDING_TILES_Q8_0_F16),
        Format::Q4_0 => (kernels::EMBEDDING_TILES_Q4_0_F32, kernels::EMBEDDING_TILES_Q4_0_F16),
        Format::Q4_1 => (kernels::EMBEDDING_TILES_Q4_1_F32, kernels::EMBEDDING_TILES_Q4_1_F16),
        Format::Q5_0 => (kernels::EMBEDDING_TILES_Q5_0_F32, kernels::EMBEDDING_TILES_Q5_0_F16),
        Format::Q5_1 => (kernels::EMBEDDING_TILES_Q5_1_F32, kernels::EMBEDDING_TILES_Q5_1_F16),
        Format::Q4_K => (kernels::EMBEDDING_TILES_Q4_K_F32, kernels::EMBEDDING_TILES_Q4_K_F16),
        Format::Q5_K => (kernels::EMBEDDING_TILES_Q5_K_F32, kernels::EMBEDDING_TILES_Q5_K_F16),
        Format::Q6_K => (kernels::EMBEDDING_TILES_Q6_K_F32, kernels::EMBEDDING_TILES_Q6_K_F16),
    };
    match activation {
        Activation::F32 => f32,
        Activation::F16 => f16,
    }
}
