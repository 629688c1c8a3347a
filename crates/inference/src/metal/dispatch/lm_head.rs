//! Scores of all tokens: `lm_head.metal`.

use super::gemv::GemvVariant;
use super::matrix::{Checked, matrix};
use super::{Check, Encoding, Grid};
use crate::metal::format::{Activation, Format};
use crate::metal::kernels::lm_head as kernels;
use crate::metal::layout::{Matrix, TILE_ROWS};
use crate::metal::library::{BufferSlice, Kernel};
use compute::Result;

/// [`lm_head`]: `logits[m,n] = Σ_k w[n,k] · x[m,k]`.
#[derive(Clone, Copy, Debug)]
pub struct LmHead<'a> {
    /// `[n, k]` weights, a row for each token.
    pub w: Matrix<'a>,
    /// `[m, k]` activations.
    pub x: BufferSlice<'a>,
    /// What becomes of the scores.
    pub result: LmHeadResult<'a>,
    /// Sequences.
    pub m: usize,
    /// The type of x.
    pub activation: Activation,
}

/// What becomes of the scores.
#[derive(Clone, Copy, Debug)]
pub enum LmHeadResult<'a> {
    /// All are stored.
    Logits(BufferSlice<'a>),
    /// Only the best token of each sequence is.
    Argmax(LmHeadArgmax<'a>),
    /// Both.
    Both(BufferSlice<'a>, LmHeadArgmax<'a>),
}

/// Where the best tokens go.
#[derive(Clone, Copy, Debug)]
pub struct LmHeadArgmax<'a> {
    /// `[m]` u32: of equal scores the lowest token.
    pub tokens: BufferSlice<'a>,
    /// [`LmHeadArgmax::scratch_bytes`] bytes that nobody else uses meanwhile.
    pub scratch: BufferSlice<'a>,
}

impl LmHeadArgmax<'_> {
    /// How much room the best of each tile take: a key and a token.
    pub fn scratch_bytes(vocabulary: usize, m: usize) -> usize {
        vocabulary.div_ceil(TILE_ROWS).saturating_mul(m).saturating_mul(8)
    }
}

/// Scores all tokens, chooses the best, or both.
pub fn lm_head(encoding: &mut Encoding<'_>, op: LmHead<'_>) -> Result<()> {
    lm_head_with(encoding, op, encoding.tuning.gemv(op.m, op.w.rows, op.w.columns))
}

/// [`lm_head`] with a variant of the caller's choice.
pub fn lm_head_with(encoding: &mut Encoding<'_>, op: LmHead<'_>, variant: GemvVariant) -> Result<()> {
    let check = Check { operation: "lm_head" };
    variant.check(&check)?;
    let matrix = matrix(&check, "w", &op.w)?;
    matrix.whole_pieces(&check)?;
    check.room("x", &op.x, &[op.m, op.w.columns], op.activation.size())?;
    let (logits, argmax) = match op.result {
        LmHeadResult::Logits(logits) => (Some(logits), None),
        LmHeadResult::Argmax(argmax) => (None, Some(argmax)),
        LmHeadResult::Both(logits, argmax) => (Some(logits), Some(argmax)),
    };
    if let Some(logits) = &logits {
        check.room("logits", logits, &[op.m, op.w.rows], 4)?;
    }
    let tiles = op.w.rows.div_ceil(TILE_ROWS);
    if let Some(argmax) = &argmax {
        check.room("tokens", &argmax.tokens, &[op.m], 4)?;
        check.room("scratch", &argmax.scratch, &[op.m, tiles], 8)?;
    }
    if op.m == 0 {
        return Ok(());
    }
    // The keys of all tiles, then their tokens.
    let halves = argmax.map(|argmax| {
        let (buffer, start, size) = (argmax.scratch.buffer(), argmax.scratch.offset(), op.m * tiles * 4);
        [BufferSlice::new(buffer, start, size), BufferSlice::new(buffer, start + size, size)]
    });
    let [keys, tokens] = halves.map_or([None; 2], |halves| halves.map(Some));
    encode(encoding, &check, op, variant, &matrix, [logits, keys, tokens])?;
    let (Some(argmax), Some([keys, tokens])) = (argmax, halves) else { return Ok(()) };
    let p = &kernels::LmHeadArgmaxParams { tiles: check.count("tiles", tiles)? };
    let arguments = kernels::LmHeadArgmaxArgs { keys, tokens, result: argmax.tokens, p };
    encoding.dispatch(
        kernels::LM_HEAD_ARGMAX,
        &kernels::LmHeadArgmaxConstants {},
        &arguments,
        Grid::linear(op.m, 1),
    )
}

fn encode(
    encoding: &mut Encoding<'_>,
    check: &Check<'_>,
    op: LmHead<'_>,
    variant: GemvVariant,
    matrix: &Checked<'_>,
    [logits, keys, tokens]: [Option<BufferSlice<'_>>; 3],
) -> Result<()> {
    let constants = kernels::LmHeadConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        logits: logits.is_some(),
        argmax: keys.is_some(),
        tiled: matrix.tiled,
    };
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let arguments = kernels::LmHeadArgs { w: op.w.data, x: op.x, logits, keys, tokens, p };
    let grid = Grid::plane(op.m.div_ceil(variant.batch), op.w.rows.div_ceil(TILE_ROWS), variant.split);
    encoding.dispatch(kernel(op.w.format, op.activation), &constants, &arguments, grid)
}

fn kernel(format: Format, activation: Activation) -> Kernel<kernels::LmHead> {
    let (f32, f16) = match format {
        Format::F32 => (kernels::LM_HEAD_F32_F32, kernels::LM_HEAD_F32_F16),
        Format::F16 => (kernels::LM_HEAD_F16_F32, kernels::LM_HEAD_F16_F16),
        Format::BF16 => (kernels::LM_HEAD_BF16_F32, kernels::LM_HEAD_BF16_F16),
        Format::Q8_0 => (kernels::LM_HEAD_Q8_0_F32, kernels::LM_HEAD_Q8_0_F16),
        Format::Q4_0 => (kernels::LM_HEAD_Q4_0_F32, kernels::LM_HEAD_Q4_0_F16),
        Format::Q4_1 => (kernels::LM_HEAD_Q4_1_F32, kernels::LM_HEAD_Q4_1_F16),
        Format::Q5_0 => (kernels::LM_HEAD_Q5_0_F32, kernels::LM_HEAD_Q5_0_F16),
        Format::Q5_1 => (kernels::LM_HEAD_Q5_1_F32, kernels::LM_HEAD_Q5_1_F16),
        Format::Q4_K => (kernels::LM_HEAD_Q4_K_F32, kernels::LM_HEAD_Q4_K_F16),
        Format::Q5_K => (kernels::LM_HEAD_Q5_K_F32, kernels::LM_HEAD_Q5_K_F16),
        Format::Q6_K => (kernels::LM_HEAD_Q6_K_F32, kernels::LM_HEAD_Q6_K_F16),
    };
    match activation {
        Activation::F32 => f32,
        Activation::F16 => f16,
    }
}
