//! Products of vectors with weight matrices: `gemv_float.metal`, `gemv_q8.metal`, `gemv_q4.metal`, `gemv_q5.metal` and
//! `gemv_kquants.metal`, whose kernels are in `include/gemv.metal`.

use super::gemm::gemm_rounded;
use crate::cases::{Built, Case, Maker, Operation, Variants, Weights, all, formulas};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, CheckedMatrix, DispatchGrid, Encoding, matrix};
use crate::metal::kernels::packed::PACKED_NUMBERS;
use crate::metal::kernels::{gemv as kernels, gemv_float as plain};
use crate::metal::layout::{Layout, Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

pub use crate::metal::kernels::gemv::{MAX_BATCH, MAX_SPLIT, STAGED};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "gemv",
        kernels: &["gemv"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=1 N=width K=width",
        checks: &["M=1 N=37 K=288"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build,
    },
    Operation {
        name: "gemv_many",
        kernels: &["gemv"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=512 N=width K=width",
        checks: &["M=5 N=37 K=160"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build,
    },
    Operation {
        name: "gemv_packed",
        kernels: &["gemv"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=1 N=width K=width",
        checks: &["M=1 N=37 K=288"],
        bytes: |c| c.w(c.n() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.n()),
        flops: |c| 2.0 * c.mnk(),
        build: build_packed,
    },
    Operation {
        name: "gemv_packed_many",
        kernels: &["gemv"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=512 N=width K=width",
        checks: &["M=19 N=37 K=160"],
        bytes: |c| c.w(c.n() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.n()),
        flops: |c| 2.0 * c.mnk(),
        build: build_packed,
    },
    Operation {
        name: "gemv_pairs",
        kernels: &["gemv"],
        variants: Variants::Weights(&[Format::F16, Format::BF16]),
        shape: "M=512 N=width K=width",
        checks: &["M=19 N=37 K=160"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: build_pairs,
    },
    Operation {
        name: "gemv_rows",
        kernels: &["gemv_rows"],
        variants: Variants::Weights(&Format::PLAIN),
        shape: "M=1 N=width K=width",
        checks: &["M=3 N=37 K=77"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: build_rows,
    },
];

/// Division of work in the kernels of `include/gemv.metal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GemvVariant {
    /// Vectors that a threadgroup takes at a time: 1 to [`MAX_BATCH`].
    pub batch: usize,
    /// Simdgroups of a threadgroup, which split the columns: 1 to [`MAX_SPLIT`].
    pub split: usize,
    /// Columns that a simdgroup takes at a time, a multiple of 32; `batch · split · chunk` is at most [`STAGED`], or
    /// `batch · split · 32` for packed vectors.
    pub chunk: usize,
    /// Weights of 16 bits and vectors are rounded to bfloat, and multiplied in pairs.
    pub pairs: bool,
}

impl GemvVariant {
    pub(crate) fn check(self, check: &Check<'_>, packed: bool) -> Result<()> {
        let GemvVariant { batch, split, chunk, pairs: _ } = self;
        let is_chunk = chunk > 0 && chunk.is_multiple_of(32) && chunk <= i32::MAX as usize;
        let staged = if packed { TILE_ROWS } else { chunk };
        let has_room = batch.saturating_mul(split).saturating_mul(staged) <= STAGED;
        match (1..=MAX_BATCH).contains(&batch) && (1..=MAX_SPLIT).contains(&split) && is_chunk && has_room {
            true => Ok(()),
            false => check
                .error(format_args!("a batch of {batch} split in {split} by chunks of {chunk} is not possible")),
        }
    }

    /// One threadgroup for each batch of `vectors` and each tile.
    pub(crate) fn grid(self, vectors: usize, tiles: usize) -> DispatchGrid {
        DispatchGrid::plane(vectors.div_ceil(self.batch), tiles, self.split)
    }
}

/// [`gemv`]: `y[m,n] = Σ_k w[n,k] · x[m,k] + bias[n] + residual[m,n]`.
#[derive(Clone, Copy, Debug)]
pub struct Gemv<'a> {
    /// `[n, k]` weights.
    pub w: Matrix<'a>,
    /// `[m, k]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// `[m, n]` activations.
    pub y: BufferSlice<'a>,
    /// `[n]` f32.
    pub bias: Option<BufferSlice<'a>>,
    /// `[m, n]` activations; may be `y`.
    pub residual: Option<BufferSlice<'a>>,
    /// Number of vectors.
    pub m: usize,
    /// The type of x, y and residual.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
}

/// The vectors of a product lack the factor of their RMS norm, 1 / √(mean of squares + epsilon), which is applied to its
/// results.
#[derive(Clone, Copy, Debug)]
pub struct NormedInput<'a> {
    /// `[m, columns / 32]` f32: sums of squares of each block.
    pub squares: BufferSlice<'a>,
    /// Of the norm.
    pub epsilon: f32,
}

impl NormedInput<'_> {
    pub(super) fn check(&self, check: &Check<'_>, packed: bool, m: usize, columns: usize) -> Result<()> {
        if !packed {
            return check.error("vectors without the factor of their norm must be packed");
        }
        check.elements("squares", &self.squares, &[m, columns / PACKED_NUMBERS], 4).map(drop)
    }
}

/// The results of a product, for another one after an RMS norm.
#[derive(Clone, Copy, Debug)]
pub struct NormedOutput<'a> {
    /// `[n]` f32: weights of the norm.
    pub w: BufferSlice<'a>,
    /// `[m, n / 32]` blocks: y times these weights, packed.
    pub packed: BufferSlice<'a>,
    /// `[m, n / 32]` f32: sums of squares of each block.
    pub squares: BufferSlice<'a>,
}

/// [`gemv`] with few packed vectors, which also packs its results for the next product: only the factor of their norm is
/// missing.
pub fn gemv_normed(encoding: &mut Encoding<'_>, op: Gemv<'_>, norm: NormedOutput<'_>) -> Result<()> {
    let variant = encoding.product(op.packed_x, op.m, &op.w);
    encode(encoding, op, variant, Some(norm))
}

/// Multiplies a matrix with any number of vectors. Many vectors go through `gemm` on devices where that is faster.
pub fn gemv(encoding: &mut Encoding<'_>, op: Gemv<'_>) -> Result<()> {
    gemv_rounded(encoding, op, None)
}

/// [`gemv`] with a copy of its vectors that [`super::round_numbers`] has rounded, which [`super::gemm_rounded`] reads.
pub fn gemv_rounded(encoding: &mut Encoding<'_>, op: Gemv<'_>, rounded_x: Option<BufferSlice<'_>>) -> Result<()> {
    match encoding.tuning.gemm(op.m, op.w.rows) {
        Some(tile) if op.w.columns.is_multiple_of(32) && !op.packed_x => {
            gemm_rounded(encoding, op, tile, rounded_x)
        }
        _ => gemv_with(encoding, op, encoding.product(op.packed_x, op.m, &op.w)),
    }
}

/// [`gemv`] with a given variant.
pub fn gemv_with(encoding: &mut Encoding<'_>, op: Gemv<'_>, variant: GemvVariant) -> Result<()> {
    encode(encoding, op, variant, None)
}

fn encode(
    encoding: &mut Encoding<'_>,
    op: Gemv<'_>,
    variant: GemvVariant,
    norm: Option<NormedOutput<'_>>,
) -> Result<()> {
    let kernel = kernels::Gemv::select(op.w.format, op.activation);
    let check = Check::new("gemv", kernel.info());
    variant.check(&check, op.packed_x)?;
    let matrix = check_product(&check, &op)?;
    if op.m == 0 {
        return Ok(());
    }
    if let Some(norm) = &norm {
        let rows = op.w.rows;
        if !op.packed_x || !rows.is_multiple_of(PACKED_NUMBERS) {
            return check
                .error(format_args!("{rows} results are not packed: vectors must be, and blocks be whole"));
        }
        check.room("norm", &norm.w, &[rows])?;
        let packed = check.room("packed_y", &norm.packed, &[op.m, rows / PACKED_NUMBERS])?;
        check.room("squares", &norm.squares, &[op.m, rows / PACKED_NUMBERS])?;
        let columns = op.w.columns / PACKED_NUMBERS;
        check.no_overlap(&packed, &check.room("packed_x", &op.x, &[op.m, columns])?)?;
    }
    if op.w.layout == Layout::Blocks && op.w.format.is_plain() {
        return gemv_rows(encoding, &check, op, variant.batch);
    }
    matrix.whole_pieces(&check)?;
    let constants = kernels::GemvConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        bias: op.bias.is_some(),
        residual: op.residual.is_some(),
        tiled: matrix.tiled,
        packed_x: op.packed_x,
        pairs: variant.pairs,
        normed_y: norm.is_some(),
        experts: false,
    };
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let (w, y, bias, residual) = (op.w.data, op.y, op.bias, op.residual);
    let [x, packed_x] = either(op.x, op.packed_x);
    let (packed_y, squares) = (norm.map(|norm| norm.packed), norm.map(|norm| norm.squares));
    let norm = norm.map(|norm| norm.w);
    let arguments =
        kernels::GemvArgs { w, x, y, bias, residual, p, packed_x, norm, packed_y, squares, tiles: None };
    encoding.describe(
        &OPERATIONS[if op.packed_x { 2 } else { 0 }],
        (op.w.format, op.activation),
        &[('M', op.m), ('N', op.w.rows), ('K', op.w.columns)],
    );
    encoding.dispatch(kernel, &constants, &arguments, variant.grid(op.m, op.w.rows.div_ceil(TILE_ROWS)))
}

/// The arguments for numbers and for packed blocks: a slice is one of them.
pub(super) fn either(slice: BufferSlice<'_>, packed: bool) -> [Option<BufferSlice<'_>>; 2] {
    [(!packed).then_some(slice), packed.then_some(slice)]
}

/// Checks the vectors of a product with a matrix.
pub(super) fn check_vectors(
    check: &Check<'_>,
    x: &BufferSlice<'_>,
    packed: bool,
    m: usize,
    w: &Matrix<'_>,
) -> Result<()> {
    match packed {
        false => check.room("x", x, &[m, w.columns]).map(|_| ()),
        true if w.format.is_plain() => {
            check.error(format_args!("{} has no products with packed vectors", w.format))
        }
        true => check.room("packed_x", x, &[m, w.columns.div_ceil(PACKED_NUMBERS)]).map(|_| ()),
    }
}

/// Checks the buffers of a product.
pub(super) fn check_product<'a>(check: &Check<'_>, op: &Gemv<'a>) -> Result<CheckedMatrix<'a>> {
    let matrix = matrix(check, "w", &op.w)?;
    check_vectors(check, &op.x, op.packed_x, op.m, &op.w)?;
    check.room("y", &op.y, &[op.m, op.w.rows])?;
    if let Some(bias) = &op.bias {
        check.room("bias", bias, &[op.w.rows])?;
    }
    if let Some(residual) = &op.residual {
        check.room("residual", residual, &[op.m, op.w.rows])?;
    }
    Ok(matrix)
}

/// Multiplies with a row-major matrix of plain numbers. Eight sums per lane: for one vector, eight rows stream at 35
/// GB/s, one at 25.
fn gemv_rows(encoding: &mut Encoding<'_>, check: &Check<'_>, op: Gemv<'_>, batch: usize) -> Result<()> {
    let Some(kernel) = plain::GemvRows::select(op.w.format, op.activation) else {
        return check.error(format_args!("{} has no rows of plain numbers", op.w.format));
    };
    let batch = batch.min(plain::MAX_SUMS);
    let rows = plain::MAX_SUMS / batch;
    let constants = plain::GemvRowsConstants {
        k: check.count("k", op.w.columns)?,
        batch: batch as u32,
        bias: op.bias.is_some(),
        residual: op.residual.is_some(),
        rows: rows as u32,
    };
    let p = &plain::GemvParams { n: check.count("n", op.w.rows)?, m: check.count("m", op.m)? };
    let (w, x, y, bias, residual) = (op.w.data, op.x, op.y, op.bias, op.residual);
    let arguments = plain::GemvRowsArgs { w, x, y, bias, residual, p };
    let grid = DispatchGrid::plane(op.m.div_ceil(batch), op.w.rows.div_ceil(rows), 1);
    encoding.describe(
        &OPERATIONS[5],
        (op.w.format, op.activation),
        &[('M', op.m), ('N', op.w.rows), ('K', op.w.columns)],
    );
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    build_product(maker, case, maker.matrix(case, case.shape['N'], case.shape['K'])?, false, gemv)
}

fn build_packed(maker: &Maker<'_>, case: &Case) -> Built {
    build_product(maker, case, maker.matrix(case, case.shape['N'], case.shape['K'])?, true, gemv)
}

/// The formula rounds, too.
fn build_pairs(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = maker.matrix(case, n, k)?;
    let (x, y) = (maker.activations(&[m, k], activation)?, maker.output("y", &[m, n], activation.into())?);
    maker.expect(&y, || {
        let rounded = |numbers: Vec<f64>| -> Vec<f64> { numbers.into_iter().map(to_bfloat).collect() };
        formulas::matrix_product(&rounded(w.numbers()), k, &rounded(x.numbers()))
    });
    Ok(Box::new(move |encoding| {
        let op = Gemv {
            w: w.matrix(),
            x: all(&x),
            y: y.slice(),
            bias: None,
            residual: None,
            m,
            activation,
            packed_x: false,
        };
        gemv_with(encoding, op, encoding.tuning.gemv_pairs(op.m))
    }))
}

/// A number rounded to bfloat, as kernels do it.
fn to_bfloat(number: f64) -> f64 {
    f64::from(f32::from_bits(((number as f32).to_bits() + 0x8000) & 0xffff_0000))
}

fn build_rows(maker: &Maker<'_>, case: &Case) -> Built {
    let format = case.format.unwrap_or(Format::F32);
    let w = maker.weights(format, Layout::Blocks, case.shape['N'], case.shape['K'])?;
    build_product(maker, case, w, false, gemv)
}

/// Builds the case of a product, for all operations that compute one.
pub(super) fn build_product(
    maker: &Maker<'_>,
    case: &Case,
    w: Weights,
    packed_x: bool,
    encode: impl Fn(&mut Encoding<'_>, Gemv<'_>) -> compute::Result<()> + 'static,
) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (x, y) = (maker.vectors(&[m, k], activation, packed_x)?, maker.output("y", &[m, n], activation.into())?);
    // Checks with several vectors also add a bias and a residual.
    let more = maker.is_check() && m > 1;
    let bias = more.then(|| maker.activations(&[n], Activation::F32)).transpose()?;
    let residual = more.then(|| maker.activations(&[m, n], activation)).transpose()?;
    maker.expect(&y, || {
        let more = [&bias, &residual].into_iter().flatten();
        more.fold(formulas::product(&w, &x.numbers()), |y, more| formulas::sum(&y, &more.numbers()))
    });
    Ok(Box::new(move |encoding| {
        let (bias, residual) = (bias.as_ref().map(all), residual.as_ref().map(all));
        let (w, x, y) = (w.matrix(), all(&x), y.slice());
        encode(encoding, Gemv { w, x, y, bias, residual, m, activation, packed_x })
    }))
}
