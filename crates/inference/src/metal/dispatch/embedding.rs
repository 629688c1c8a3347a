//! Rows of a table: `embedding.metal`.

use super::{Check, Encoding, Grid, SIMD_WIDTH};
use crate::metal::format::{Activation, Format};
use crate::metal::kernels::embedding as kernels;
use crate::metal::library::{BufferSlice, Kernel};
use compute::Result;

/// Simdgroups in a threadgroup, each with 32 numbers of a row.
const SIMDGROUPS: usize = 8;

/// [`embedding`]: y[t] = table[tokens[t]] · scale.
#[derive(Clone, Copy, Debug)]
pub struct Embedding<'a> {
    /// `[vocabulary, dim]` in `format`.
    pub table: BufferSlice<'a>,
    /// `[count]` u32. One that is not below `vocabulary` gives a row of NaN.
    pub tokens: BufferSlice<'a>,
    /// `[count, dim]` activations.
    pub y: BufferSlice<'a>,
    /// How many tokens.
    pub count: usize,
    /// Rows of the table.
    pub vocabulary: usize,
    /// Numbers in a row: whole blocks.
    pub dim: usize,
    /// What every number is multiplied with; 1 for most models.
    pub scale: f32,
    /// How the table is stored.
    pub format: Format,
    /// The type of y.
    pub activation: Activation,
}

/// Looks up rows of a table.
pub fn embedding(encoding: &mut Encoding<'_>, op: Embedding<'_>) -> Result<()> {
    let check = Check { operation: "embedding" };
    let dim = check.count("dim", op.dim)?;
    let vocabulary = check.count("vocabulary", op.vocabulary)?;
    let blocks = check.blocks("dim", op.dim, op.format)?;
    check.room("table", &op.table, &[op.vocabulary, blocks], op.format.block_size())?;
    check.room("tokens", &op.tokens, &[op.count], 4)?;
    check.room("y", &op.y, &[op.count, op.dim], op.activation.size())?;
    if op.count == 0 {
        return Ok(());
    }
    let constants = kernels::EmbeddingConstants { dim, vocabulary, simdgroups: SIMDGROUPS as u32 };
    let arguments = kernels::EmbeddingArgs { table: op.table, tokens: op.tokens, y: op.y, scale: op.scale };
    let grid = Grid::plane(op.dim.div_ceil(SIMDGROUPS * SIMD_WIDTH), op.count, SIMDGROUPS);
    encoding.dispatch(kernel(op.format, op.activation), &constants, &arguments, grid)
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
