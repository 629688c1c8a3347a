//! Products of vectors with matrices of weights: `gemv_float.metal`, `gemv_q8.metal`, `gemv_q4.metal`, `gemv_q5.metal`,
//! `gemv_kquants.metal`, whose kernels are in `include/gemv.metal`.

use super::gemm::gemm;
use super::matrix::{Checked, matrix};
use super::{Check, Encoding, Grid};
use crate::metal::format::{Activation, Format};
use crate::metal::kernels;
use crate::metal::layout::{Layout, Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Numbers of vectors that a threadgroup stages at most, as in `include/gemv.metal`.
pub const STAGED: usize = 1024;

/// Simdgroups of a threadgroup at most, as in `include/gemv.metal`.
pub const MAX_SPLIT: usize = 16;

/// How the kernels of `include/gemv.metal` divide the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemvVariant {
    /// Vectors that a threadgroup takes at a time: 1 to 8.
    pub batch: usize,
    /// Simdgroups of a threadgroup, which split the columns between them: 1 to [`MAX_SPLIT`].
    pub split: usize,
    /// Columns that a simdgroup takes at a time, a multiple of 32; `batch · split · chunk` is [`STAGED`] at most.
    pub chunk: usize,
}

impl GemvVariant {
    pub(super) fn check(self, check: &Check<'_>) -> Result<()> {
        let GemvVariant { batch, split, chunk } = self;
        let is_chunk = chunk > 0 && chunk.is_multiple_of(32);
        let has_room = batch.saturating_mul(split).saturating_mul(chunk) <= STAGED;
        match (1..=8).contains(&batch) && (1..=MAX_SPLIT).contains(&split) && is_chunk && has_room {
            true => Ok(()),
            false => check
                .error(format_args!("a batch of {batch} split in {split} by chunks of {chunk} is not possible")),
        }
    }
}

/// [`gemv`]: `y[m,n] = Σ_k w[n,k] · x[m,k] + bias[n] + residual[m,n]`.
#[derive(Clone, Copy, Debug)]
pub struct Gemv<'a> {
    /// `[n, k]` weights.
    pub w: Matrix<'a>,
    /// `[m, k]` activations.
    pub x: BufferSlice<'a>,
    /// `[m, n]` activations.
    pub y: BufferSlice<'a>,
    /// `[n]` f32.
    pub bias: Option<BufferSlice<'a>>,
    /// `[m, n]` activations; may be `y`.
    pub residual: Option<BufferSlice<'a>>,
    /// Vectors.
    pub m: usize,
    /// The type of x, y and residual.
    pub activation: Activation,
}

/// Multiplies a matrix with one vector or with any number of them: with many by [`gemm`], on devices that are faster so.
pub fn gemv(encoding: &mut Encoding<'_>, op: Gemv<'_>) -> Result<()> {
    match encoding.tuning.gemm(op.m) {
        Some(simdgroups) if op.w.columns.is_multiple_of(32) => gemm(encoding, op, simdgroups),
        _ => gemv_with(encoding, op, encoding.tuning.gemv(op.m, op.w.rows, op.w.columns)),
    }
}

/// [`gemv`] with a variant of the caller's choice.
pub fn gemv_with(encoding: &mut Encoding<'_>, op: Gemv<'_>, variant: GemvVariant) -> Result<()> {
    let check = Check { operation: "gemv" };
    variant.check(&check)?;
    let matrix = check_product(&check, &op)?;
    if op.m == 0 {
        return Ok(());
    }
    if op.w.layout == Layout::Blocks && op.w.format.block_len() == 1 {
        return gemv_rows(encoding, &check, op, variant.batch);
    }
    matrix.whole_pieces(&check)?;
    let m = check.count("m", op.m)?;
    let grid = Grid::plane(op.m.div_ceil(variant.batch), op.w.rows.div_ceil(TILE_ROWS), variant.split);
    macro_rules! encode {
        ($module:ident, $f32:ident, $f16:ident) => {{
            use kernels::$module as module;
            let constants = module::GemvConstants {
                k: matrix.columns,
                batch: variant.batch as u32,
                split: variant.split as u32,
                chunk: variant.chunk as u32,
                bias: op.bias.is_some(),
                residual: op.residual.is_some(),
                tiled: matrix.tiled,
            };
            let p = &module::GemvParams { n: matrix.rows, m };
            let (w, x, y, bias, residual) = (op.w.data, op.x, op.y, op.bias, op.residual);
            let arguments = module::GemvArgs { w, x, y, bias, residual, p };
            let kernel = if op.activation == Activation::F32 { module::$f32 } else { module::$f16 };
            encoding.dispatch(kernel, &constants, &arguments, grid)
        }};
    }
    match op.w.format {
        Format::F32 => encode!(gemv_float, GEMV_F32_F32, GEMV_F32_F16),
        Format::F16 => encode!(gemv_float, GEMV_F16_F32, GEMV_F16_F16),
        Format::BF16 => encode!(gemv_float, GEMV_BF16_F32, GEMV_BF16_F16),
        Format::Q8_0 => encode!(gemv_q8, GEMV_Q8_0_F32, GEMV_Q8_0_F16),
        Format::Q4_0 => encode!(gemv_q4, GEMV_Q4_0_F32, GEMV_Q4_0_F16),
        Format::Q4_1 => encode!(gemv_q4, GEMV_Q4_1_F32, GEMV_Q4_1_F16),
        Format::Q5_0 => encode!(gemv_q5, GEMV_Q5_0_F32, GEMV_Q5_0_F16),
        Format::Q5_1 => encode!(gemv_q5, GEMV_Q5_1_F32, GEMV_Q5_1_F16),
        Format::Q4_K => encode!(gemv_kquants, GEMV_Q4_K_F32, GEMV_Q4_K_F16),
        Format::Q5_K => encode!(gemv_kquants, GEMV_Q5_K_F32, GEMV_Q5_K_F16),
        Format::Q6_K => encode!(gemv_kquants, GEMV_Q6_K_F32, GEMV_Q6_K_F16),
    }
}

/// Checks the buffers of a product.
pub(super) fn check_product<'a>(check: &Check<'_>, op: &Gemv<'a>) -> Result<Checked<'a>> {
    let matrix = matrix(check, "w", &op.w)?;
    check.room("x", &op.x, &[op.m, op.w.columns], op.activation.size())?;
    check.room("y", &op.y, &[op.m, op.w.rows], op.activation.size())?;
    if let Some(bias) = &op.bias {
        check.room("bias", bias, &[op.w.rows], 4)?;
    }
    if let Some(residual) = &op.residual {
        check.room("residual", residual, &[op.m, op.w.rows], op.activation.size())?;
    }
    Ok(matrix)
}

/// Matrices of plain numbers in rows. Eight sums per lane: for one vector, eight rows stream at 35 GB/s, one at 25.
fn gemv_rows(encoding: &mut Encoding<'_>, check: &Check<'_>, op: Gemv<'_>, batch: usize) -> Result<()> {
    use kernels::gemv_float as module;
    let rows = 8 / batch;
    let constants = module::GemvRowsConstants {
        k: check.count("k", op.w.columns)?,
        batch: batch as u32,
        bias: op.bias.is_some(),
        residual: op.residual.is_some(),
        rows: rows as u32,
    };
    let p = &module::GemvParams { n: check.count("n", op.w.rows)?, m: check.count("m", op.m)? };
    let (w, x, y, bias, residual) = (op.w.data, op.x, op.y, op.bias, op.residual);
    let arguments = module::GemvRowsArgs { w, x, y, bias, residual, p };
    let kernel = match (op.w.format, op.activation) {
        (Format::F32, Activation::F32) => module::GEMV_ROWS_F32_F32,
        (Format::F32, Activation::F16) => module::GEMV_ROWS_F32_F16,
        (Format::F16, Activation::F32) => module::GEMV_ROWS_F16_F32,
        (Format::F16, Activation::F16) => module::GEMV_ROWS_F16_F16,
        (Format::BF16, Activation::F32) => module::GEMV_ROWS_BF16_F32,
        (Format::BF16, Activation::F16) => module::GEMV_ROWS_BF16_F16,
        (format, _) => return check.error(format_args!("{format} has no rows of plain numbers")),
    };
    let grid = Grid::plane(op.m.div_ceil(batch), op.w.rows.div_ceil(rows), 1);
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

/// [`gemv_gated`]: `y[m,n] = silu(Σ_k gate[n,k] · x[m,k]) · Σ_k up[n,k] · x[m,k]`.
#[derive(Clone, Copy, Debug)]
pub struct GemvGated<'a> {
    /// `[n, k]` weights.
    pub gate: Matrix<'a>,
    /// `[n, k]` weights, stored like those of `gate`.
    pub up: Matrix<'a>,
    /// `[m, k]` activations.
    pub x: BufferSlice<'a>,
    /// `[m, n]` activations.
    pub y: BufferSlice<'a>,
    /// Vectors.
    pub m: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// The first half of a gated feed-forward network in one dispatch.
pub fn gemv_gated(encoding: &mut Encoding<'_>, op: GemvGated<'_>) -> Result<()> {
    gemv_gated_with(encoding, op, encoding.tuning.gemv(op.m, op.gate.rows, op.gate.columns))
}

/// [`gemv_gated`] with a variant of the caller's choice.
pub fn gemv_gated_with(encoding: &mut Encoding<'_>, op: GemvGated<'_>, variant: GemvVariant) -> Result<()> {
    let check = Check { operation: "gemv_gated" };
    variant.check(&check)?;
    let matrix = matrix(&check, "gate", &op.gate)?;
    matrix.alike(&check, "up", &op.up, op.gate.rows)?;
    check.room("x", &op.x, &[op.m, op.gate.columns], op.activation.size())?;
    check.room("y", &op.y, &[op.m, op.gate.rows], op.activation.size())?;
    matrix.whole_pieces(&check)?;
    if op.m == 0 {
        return Ok(());
    }
    let m = check.count("m", op.m)?;
    let grid = Grid::plane(op.m.div_ceil(variant.batch), op.gate.rows.div_ceil(TILE_ROWS), variant.split);
    macro_rules! encode {
        ($module:ident, $f32:ident, $f16:ident) => {{
            use kernels::$module as module;
            let constants = module::GemvGatedConstants {
                k: matrix.columns,
                batch: variant.batch as u32,
                split: variant.split as u32,
                chunk: variant.chunk as u32,
                tiled: matrix.tiled,
            };
            let p = &module::GemvParams { n: matrix.rows, m };
            let (gate, up, x, y) = (op.gate.data, op.up.data, op.x, op.y);
            let arguments = module::GemvGatedArgs { gate, up, x, y, p };
            let kernel = if op.activation == Activation::F32 { module::$f32 } else { module::$f16 };
            encoding.dispatch(kernel, &constants, &arguments, grid)
        }};
    }
    match op.gate.format {
        Format::F32 => encode!(gemv_float, GEMV_GATED_F32_F32, GEMV_GATED_F32_F16),
        Format::F16 => encode!(gemv_float, GEMV_GATED_F16_F32, GEMV_GATED_F16_F16),
        Format::BF16 => encode!(gemv_float, GEMV_GATED_BF16_F32, GEMV_GATED_BF16_F16),
        Format::Q8_0 => encode!(gemv_q8, GEMV_GATED_Q8_0_F32, GEMV_GATED_Q8_0_F16),
        Format::Q4_0 => encode!(gemv_q4, GEMV_GATED_Q4_0_F32, GEMV_GATED_Q4_0_F16),
        Format::Q4_1 => encode!(gemv_q4, GEMV_GATED_Q4_1_F32, GEMV_GATED_Q4_1_F16),
        Format::Q5_0 => encode!(gemv_q5, GEMV_GATED_Q5_0_F32, GEMV_GATED_Q5_0_F16),
        Format::Q5_1 => encode!(gemv_q5, GEMV_GATED_Q5_1_F32, GEMV_GATED_Q5_1_F16),
        Format::Q4_K => encode!(gemv_kquants, GEMV_GATED_Q4_K_F32, GEMV_GATED_Q4_K_F16),
        Format::Q5_K => encode!(gemv_kquants, GEMV_GATED_Q5_K_F32, GEMV_GATED_Q5_K_F16),
        Format::Q6_K => encode!(gemv_kquants, GEMV_GATED_Q6_K_F32, GEMV_GATED_Q6_K_F16),
    }
}

/// [`gemv_qkv`]: q = wq x, k = wk x, v = wv x, with biases.
#[derive(Clone, Copy, Debug)]
pub struct GemvQkv<'a> {
    /// `[q rows, columns]` weights.
    pub wq: Matrix<'a>,
    /// `[kv rows, columns]` weights, stored like those of `wq`.
    pub wk: Matrix<'a>,
    /// `[kv rows, columns]` weights, stored like those of `wq`.
    pub wv: Matrix<'a>,
    /// `[m, columns]` activations.
    pub x: BufferSlice<'a>,
    /// `[m, q rows]` activations.
    pub q: BufferSlice<'a>,
    /// `[m, kv rows]` activations.
    pub k: BufferSlice<'a>,
    /// `[m, kv rows]` activations.
    pub v: BufferSlice<'a>,
    /// Those of q, k and v: f32.
    pub biases: Option<[BufferSlice<'a>; 3]>,
    /// Vectors.
    pub m: usize,
    /// The type of x, q, k and v.
    pub activation: Activation,
}

/// Queries, keys and values in one dispatch.
pub fn gemv_qkv(encoding: &mut Encoding<'_>, op: GemvQkv<'_>) -> Result<()> {
    let rows = op.wq.rows.saturating_add(op.wk.rows).saturating_add(op.wv.rows);
    gemv_qkv_with(encoding, op, encoding.tuning.gemv(op.m, rows, op.wq.columns))
}

/// [`gemv_qkv`] with a variant of the caller's choice.
pub fn gemv_qkv_with(encoding: &mut Encoding<'_>, op: GemvQkv<'_>, variant: GemvVariant) -> Result<()> {
    let check = Check { operation: "gemv_qkv" };
    variant.check(&check)?;
    let matrix = matrix(&check, "wq", &op.wq)?;
    matrix.alike(&check, "wk", &op.wk, op.wk.rows)?;
    matrix.alike(&check, "wv", &op.wv, op.wk.rows)?;
    check.room("x", &op.x, &[op.m, op.wq.columns], op.activation.size())?;
    for (name, slice, rows) in [("q", &op.q, op.wq.rows), ("k", &op.k, op.wk.rows), ("v", &op.v, op.wk.rows)] {
        check.room(name, slice, &[op.m, rows], op.activation.size())?;
    }
    for (bias, rows) in op.biases.iter().flatten().zip([op.wq.rows, op.wk.rows, op.wk.rows]) {
        check.room("biases", bias, &[rows], 4)?;
    }
    matrix.whole_pieces(&check)?;
    if op.m == 0 {
        return Ok(());
    }
    let (m, kv_rows) = (check.count("m", op.m)?, check.count("kv rows", op.wk.rows)?);
    let tiles = op.wq.rows.div_ceil(TILE_ROWS) + 2 * op.wk.rows.div_ceil(TILE_ROWS);
    let grid = Grid::plane(op.m.div_ceil(variant.batch), tiles, variant.split);
    macro_rules! encode {
        ($module:ident, $f32:ident, $f16:ident) => {{
            use kernels::$module as module;
            let constants = module::GemvQkvConstants {
                k: matrix.columns,
                batch: variant.batch as u32,
                split: variant.split as u32,
                chunk: variant.chunk as u32,
                bias: op.biases.is_some(),
                tiled: matrix.tiled,
            };
            let (wq, wk, wv) = (op.wq.data, op.wk.data, op.wv.data);
            let (x, q, k, v) = (op.x, op.q, op.k, op.v);
            let [q_bias, k_bias, v_bias] = op.biases.map_or([None; 3], |biases| biases.map(Some));
            let p = &module::GemvQkvParams { q_rows: matrix.rows, kv_rows, m };
            let arguments = module::GemvQkvArgs { wq, wk, wv, x, q, k, v, q_bias, k_bias, v_bias, p };
            let kernel = if op.activation == Activation::F32 { module::$f32 } else { module::$f16 };
            encoding.dispatch(kernel, &constants, &arguments, grid)
        }};
    }
    match op.wq.format {
        Format::F32 => encode!(gemv_float, GEMV_QKV_F32_F32, GEMV_QKV_F32_F16),
        Format::F16 => encode!(gemv_float, GEMV_QKV_F16_F32, GEMV_QKV_F16_F16),
        Format::BF16 => encode!(gemv_float, GEMV_QKV_BF16_F32, GEMV_QKV_BF16_F16),
        Format::Q8_0 => encode!(gemv_q8, GEMV_QKV_Q8_0_F32, GEMV_QKV_Q8_0_F16),
        Format::Q4_0 => encode!(gemv_q4, GEMV_QKV_Q4_0_F32, GEMV_QKV_Q4_0_F16),
        Format::Q4_1 => encode!(gemv_q4, GEMV_QKV_Q4_1_F32, GEMV_QKV_Q4_1_F16),
        Format::Q5_0 => encode!(gemv_q5, GEMV_QKV_Q5_0_F32, GEMV_QKV_Q5_0_F16),
        Format::Q5_1 => encode!(gemv_q5, GEMV_QKV_Q5_1_F32, GEMV_QKV_Q5_1_F16),
        Format::Q4_K => encode!(gemv_kquants, GEMV_QKV_Q4_K_F32, GEMV_QKV_Q4_K_F16),
        Format::Q5_K => encode!(gemv_kquants, GEMV_QKV_Q5_K_F32, GEMV_QKV_Q5_K_F16),
        Format::Q6_K => encode!(gemv_kquants, GEMV_QKV_Q6_K_F32, GEMV_QKV_Q6_K_F16),
    }
}
