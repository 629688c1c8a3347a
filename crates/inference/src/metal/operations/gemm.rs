//! Matrix products by simdgroup matrices: `gemm.metal`.

use super::gemv::{Gemv, build_product, check_product};
use crate::cases::{Built, Case, Maker, Operation, Variants};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding};
use crate::metal::kernels::gemm as kernels;
use crate::metal::layout::{Layout, Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "gemm",
        kernels: &["gemm"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=512 N=width K=width",
        checks: &["M=37 N=70 K=96"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: |maker, case| build(maker, case, GemmTile::Medium),
    },
    Operation {
        name: "gemm_large",
        kernels: &["gemm_large"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=512 N=width K=width",
        checks: &["M=37 N=70 K=96"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: |maker, case| build(maker, case, GemmTile::Large),
    },
];

/// The results that a threadgroup computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GemmTile {
    /// 64 vectors times 64 rows.
    Medium,
    /// 128 vectors times 128 rows.
    Large,
}

impl GemmTile {
    /// Both.
    pub const ALL: [GemmTile; 2] = [GemmTile::Medium, GemmTile::Large];

    /// Vectors, and rows of the matrix.
    pub const fn size(self) -> usize {
        match self {
            GemmTile::Medium => kernels::GEMM_SIZE,
            GemmTile::Large => kernels::GEMM_LARGE_SIZE,
        }
    }

    /// Vectors of each simdgroup, which has 32 rows.
    const fn vectors(self) -> usize {
        match self {
            GemmTile::Medium => kernels::GEMM_VECTORS,
            GemmTile::Large => kernels::GEMM_LARGE_VECTORS,
        }
    }

    /// Simdgroups of a threadgroup.
    pub(super) const fn simdgroups(self) -> usize {
        self.size() / self.vectors() * (self.size() / TILE_ROWS)
    }
}

/// The product of [`super::gemv::gemv`] by simdgroup matrices: for many vectors, on devices with matrix units. A CPU
/// has none and is faster with `gemv`.
///
/// The columns must be a multiple of 32, and x aligned to 16 bytes. With [`Encoding::rounds`], activations and weights are
/// rounded to half.
pub fn gemm(encoding: &mut Encoding<'_>, op: Gemv<'_>, tile: GemmTile) -> Result<()> {
    gemm_rounded(encoding, op, tile, None)
}

/// [`gemm`] with vectors that [`super::round_numbers`] has rounded already, if it rounds. They are loaded once for each
/// tile of rows: as halves, which need no conversion, half as many bytes.
pub fn gemm_rounded(
    encoding: &mut Encoding<'_>,
    op: Gemv<'_>,
    tile: GemmTile,
    rounded_x: Option<BufferSlice<'_>>,
) -> Result<()> {
    let (medium, large) =
        (kernels::Gemm::select(op.w.format, op.activation), kernels::GemmLarge::select(op.w.format, op.activation));
    let check = match tile {
        GemmTile::Medium => Check::new("gemm", medium.info()),
        GemmTile::Large => Check::new("gemm", large.info()),
    };
    if op.packed_x {
        return check.error("there are no products with packed vectors");
    }
    let matrix = check_product(&check, &op)?;
    matrix.whole_pieces(&check)?;
    check_alignment(&check, "x", &op.x)?;
    check_tiles(&check, &op.w)?;
    let rounded_x = rounded_x.filter(|_| encoding.rounds && op.activation == Activation::F32);
    if let Some(rounded) = &rounded_x {
        check.elements("rounded_x", rounded, &[op.m, op.w.columns], 2)?;
        check_alignment(&check, "rounded_x", rounded)?;
    }
    if op.m == 0 {
        return Ok(());
    }
    let p = &kernels::GemmParams { n: matrix.rows, m: check.count("m", op.m)? };
    let (w, x, y, bias, residual) = (op.w.data, rounded_x.unwrap_or(op.x), op.y, op.bias, op.residual);
    let (k, tiled, rounded, half_x) = (matrix.columns, matrix.tiled, encoding.rounds, rounded_x.is_some());
    let size = tile.size();
    let tiles = op.m.div_ceil(size).saturating_mul(op.w.rows.div_ceil(size));
    let ahead = steps_ahead(encoding, op.activation, op.w.columns, tiles);
    let wide = multiplies_wide(encoding, op.activation, ahead);
    let (has_bias, has_residual) = (bias.is_some(), residual.is_some());
    let grid = DispatchGrid::plane(op.m.div_ceil(size), op.w.rows.div_ceil(size), tile.simdgroups());
    let operation = match tile {
        GemmTile::Medium => &OPERATIONS[0],
        GemmTile::Large => &OPERATIONS[1],
    };
    let sizes = [('M', op.m), ('N', op.w.rows), ('K', op.w.columns)];
    encoding.describe(operation, (op.w.format, op.activation), &sizes);
    match tile {
        GemmTile::Medium => encoding.dispatch(
            medium,
            &kernels::GemmConstants {
                k,
                bias: has_bias,
                residual: has_residual,
                rounded,
                half_x,
                ahead,
                wide,
                tiled,
                experts: false,
            },
            &kernels::GemmArgs { w, x, y, bias, residual, p, tiles: None },
            grid,
        ),
        GemmTile::Large => encoding.dispatch(
            large,
            &kernels::GemmLargeConstants {
                k,
                bias: has_bias,
                residual: has_residual,
                rounded,
                half_x,
                ahead,
                wide,
                tiled,
                experts: false,
            },
            &kernels::GemmLargeArgs { w, x, y, bias, residual, p, tiles: None },
            grid,
        ),
    }
}

/// The steps that a thread loads ahead in a product of so many tiles, which divide all steps.
pub(super) fn steps_ahead(encoding: &Encoding<'_>, activation: Activation, columns: usize, tiles: usize) -> u32 {
    let staged = if encoding.rounds { 2 } else { activation.size() };
    let steps = columns * staged / kernels::STEP_BYTES;
    let most = encoding.tuning.gemm.map_or(1, |gemm| if tiles > gemm.large { gemm.ahead } else { gemm.few_ahead });
    [4, 2].into_iter().find(|&ahead| ahead <= most && steps.is_multiple_of(ahead)).unwrap_or(1) as u32
}

/// True if all simdgroups of a threadgroup multiply with the same rows.
pub(super) fn multiplies_wide(encoding: &Encoding<'_>, activation: Activation, ahead: u32) -> bool {
    let has_halves = encoding.rounds || activation == Activation::F16;
    has_halves && ahead.is_multiple_of(2) && encoding.tuning.gemm.is_some_and(|gemm| gemm.wide)
}

/// Checks the alignment of a buffer that is loaded 16 bytes at a time.
pub(super) fn check_alignment(check: &Check<'_>, name: &str, data: &BufferSlice<'_>) -> Result<()> {
    match data.offset().is_multiple_of(16) {
        true => Ok(()),
        false => check.error(format_args!(
            "{name} begins at byte {} of its buffer: a multiple of 16 is needed",
            data.offset()
        )),
    }
}

/// Checks the alignment of a matrix whose tiles are loaded like vectors.
pub(super) fn check_tiles(check: &Check<'_>, w: &Matrix<'_>) -> Result<()> {
    match (w.format, w.layout) {
        (Format::F16, Layout::Tiles) => check_alignment(check, "w", &w.data),
        _ => Ok(()),
    }
}

fn build(maker: &Maker<'_>, case: &Case, tile: GemmTile) -> Built {
    let w = maker.matrix(case, case.shape['N'], case.shape['K'])?;
    build_product(maker, case, w, false, move |encoding, op| gemm(encoding, op, tile))
}
