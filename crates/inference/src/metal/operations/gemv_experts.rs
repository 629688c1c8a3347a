//! Products with the matrices of experts: `gemv` and `gemv_gated` of `include/gemv.metal`, and `gemm.metal`, by a table of
//! tiles.

use super::gemm::{GemmTile, check_alignment, check_tiles, multiplies_wide, steps_ahead};
use super::gemv::{GemvVariant, MAX_BATCH, check_vectors, either};
use super::group_experts::ExpertTile;
use super::pack::PACKED_NUMBERS;
use crate::cases::{Array, Built, Case, ExpertWeights, Maker, Operation, Variants, all, formulas};
use crate::formats::{Activation, Format};
use crate::metal::Tuning;
use crate::metal::dispatch::{Check, CheckedMatrix, DispatchGrid, Encoding, matrix};
use crate::metal::kernels::{gemm as gemm_kernels, gemv as kernels};
use crate::metal::layout::{Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check. The decoders of other formats are those of `gemv`.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "gemv_experts",
        kernels: &["gemv"],
        variants: Variants::Weights(FORMATS),
        shape: "M=8 N=width K=width E=16 B=1",
        checks: &["M=5 N=37 K=160 E=3 B=1", "M=7 N=37 K=96 E=2 B=4"],
        bytes: |c| c.w(c.e().min(c.m()) * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: |maker, case| build(maker, case, false),
    },
    Operation {
        name: "gemv_experts_packed",
        kernels: &["gemv"],
        variants: Variants::Weights(PACKED_FORMATS),
        shape: "M=8 N=width K=width E=16 B=1",
        checks: &["M=5 N=37 K=160 E=3 B=1", "M=37 N=37 K=96 E=2 B=8"],
        bytes: |c| c.w(c.e().min(c.m()) * c.n() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.n()),
        flops: |c| 2.0 * c.mnk(),
        build: |maker, case| build(maker, case, true),
    },
    Operation {
        name: "gemv_gated_experts",
        kernels: &["gemv_gated"],
        variants: Variants::Weights(FORMATS),
        shape: "M=8 N=width K=width E=16 B=1",
        checks: &["M=5 N=37 K=160 E=3 B=1", "M=7 N=37 K=96 E=2 B=4 T=1"],
        bytes: |c| c.w(2.0 * c.e().min(c.m()) * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 4.0 * c.mnk() + 5.0 * c.mn(),
        build: |maker, case| build_gated(maker, case, false),
    },
    Operation {
        name: "gemv_gated_experts_packed",
        kernels: &["gemv_gated"],
        variants: Variants::Weights(PACKED_FORMATS),
        shape: "M=8 N=width K=width E=16 B=1",
        checks: &["M=5 N=37 K=160 E=3 B=1 T=1", "M=37 N=37 K=96 E=2 B=8"],
        bytes: |c| c.w(2.0 * c.e().min(c.m()) * c.n() * c.k()) + c.packed(c.m() * c.k()) + c.a(c.m() * c.n()),
        flops: |c| 4.0 * c.mnk() + 5.0 * c.mn(),
        build: |maker, case| build_gated(maker, case, true),
    },
    Operation {
        name: "gemm_experts",
        kernels: &["gemm"],
        variants: Variants::Weights(FORMATS),
        shape: "M=512 N=width K=width E=16 B=64",
        checks: &["M=150 N=70 K=96 E=2 B=64"],
        bytes: |c| c.w(c.e().min(c.m()) * c.n() * c.k()) + c.a(c.m() * (c.n() + c.k())),
        flops: |c| 2.0 * c.mnk(),
        build: |maker, case| build(maker, case, false),
    },
];

const FORMATS: &[Format] = &[Format::F32, Format::F16, Format::Q8_0, Format::Q4_K];
const PACKED_FORMATS: &[Format] = &[Format::Q8_0, Format::Q4_K];

/// The matrices of all experts of a layer, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct ExpertMatrices<'a> {
    /// Format, layout and size of each; the data are those of all.
    pub each: Matrix<'a>,
    /// Number of experts.
    pub count: usize,
}

/// A table of [`ExpertTile`], which the device writes.
#[derive(Clone, Copy, Debug)]
pub struct ExpertTiles<'a> {
    /// `[count]` tiles. Their rows must be within x and y.
    pub table: BufferSlice<'a>,
    /// Number of tiles.
    pub count: usize,
    /// Maximum number of vectors of a tile: a power of two up to 16, or that of a tile of `gemm`.
    pub vectors: usize,
}

/// Functions of the gate and up projections of an expert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExpertGate {
    /// silu(gate) · up
    Silu,
    /// With gate at most 7 and up from −7 to 7, gate · sigmoid(1.702 · gate) · (up + 1).
    ClampedSwiglu,
}

/// [`gemv_experts`]: `y[m,n] = Σ_k w[expert of m][n,k] · x[m,k] + bias[expert of m][n]`.
#[derive(Clone, Copy, Debug)]
pub struct GemvExperts<'a> {
    /// `[experts, n, k]` weights.
    pub w: ExpertMatrices<'a>,
    /// `[x_rows, k]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// Number of vectors.
    pub x_rows: usize,
    /// `[m, n]` activations.
    pub y: BufferSlice<'a>,
    /// `[experts, n]` f32.
    pub bias: Option<BufferSlice<'a>>,
    /// Number of results.
    pub m: usize,
    /// The vectors of each expert.
    pub tiles: ExpertTiles<'a>,
    /// The type of x and y.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
}

/// [`gemv_gated_experts`]: gate and up projection of experts, in one dispatch.
#[derive(Clone, Copy, Debug)]
pub struct GemvGatedExperts<'a> {
    /// `[experts, n, k]` weights.
    pub gate: ExpertMatrices<'a>,
    /// `[experts, n, k]` weights, in the format and layout of `gate`.
    pub up: ExpertMatrices<'a>,
    /// `[x_rows, k]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// Number of vectors.
    pub x_rows: usize,
    /// `[m, n]` activations, or packed.
    pub y: BufferSlice<'a>,
    /// `[experts, n]` f32, of gate and up.
    pub biases: Option<[BufferSlice<'a>; 2]>,
    /// The function of both.
    pub function: ExpertGate,
    /// Number of results.
    pub m: usize,
    /// The vectors of each expert: at most 16.
    pub tiles: ExpertTiles<'a>,
    /// The type of x and y.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
    /// Packs y.
    pub packed_y: bool,
}

/// The number of vectors of a tile for `pairs` of a token and an expert: about as many as an expert has, or one if that is
/// about all that they have, in which case there is no need to sort them.
pub fn expert_tile(tuning: &Tuning, pairs: usize, experts: usize, packed: bool) -> usize {
    let average = pairs / experts.max(1);
    if !packed && tuning.uses_gemm(average) {
        return GemmTile::Medium.size();
    }
    // Rounded up, so that most experts have one tile.
    let wanted = if average < 2 { 1 } else { average.next_power_of_two() };
    tuning.product(packed, wanted.min(MAX_BATCH), 1, 1).batch
}

/// Multiplies vectors with the matrices of their experts.
pub fn gemv_experts(encoding: &mut Encoding<'_>, op: GemvExperts<'_>) -> Result<()> {
    if op.tiles.vectors > MAX_BATCH {
        return gemm_experts(encoding, op);
    }
    let kernel = kernels::Gemv::select(op.w.each.format, op.activation);
    let check = Check::new("gemv_experts", kernel.info());
    let variant = variant(&check, encoding, &op.tiles, &op.w.each, op.packed_x)?;
    let matrix = check_experts(&check, &op)?;
    if op.m == 0 || op.tiles.count == 0 {
        return Ok(());
    }
    let constants = kernels::GemvConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        bias: op.bias.is_some(),
        residual: false,
        tiled: matrix.tiled,
        packed_x: op.packed_x,
        pairs: variant.pairs,
        normed_y: false,
        experts: true,
    };
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let [x, packed_x] = either(op.x, op.packed_x);
    let arguments = kernels::GemvArgs {
        w: op.w.each.data,
        x,
        y: op.y,
        bias: op.bias,
        residual: None,
        p,
        packed_x,
        norm: None,
        packed_y: None,
        squares: None,
        tiles: Some(op.tiles.table),
    };
    describe(encoding, &OPERATIONS[usize::from(op.packed_x)], op.m, &op.w, op.activation);
    let grid = DispatchGrid::plane(op.tiles.count, op.w.each.rows.div_ceil(TILE_ROWS), variant.split);
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

/// Computes the hidden layers of experts.
pub fn gemv_gated_experts(encoding: &mut Encoding<'_>, op: GemvGatedExperts<'_>) -> Result<()> {
    let kernel = kernels::GemvGated::select(op.gate.each.format, op.activation);
    let check = Check::new("gemv_gated_experts", kernel.info());
    let variant = variant(&check, encoding, &op.tiles, &op.gate.each, op.packed_x)?;
    let matrix = check_matrices(&check, "gate", &op.gate)?;
    check_matrices(&check, "up", &op.up)?;
    matrix.stored_like(&check, "up", &op.up.each, op.gate.each.rows)?;
    if op.gate.count != op.up.count {
        return check.error(format_args!("{} experts of gate, but {} of up", op.gate.count, op.up.count));
    }
    check_vectors(&check, &op.x, op.packed_x, op.x_rows, &op.gate.each)?;
    match op.packed_y {
        false => check.room("y", &op.y, &[op.m, op.gate.each.rows])?,
        true => check.room("packed_y", &op.y, &[op.m, op.gate.each.rows.div_ceil(PACKED_NUMBERS)])?,
    };
    if let Some([gate_bias, up_bias]) = &op.biases {
        check.room("gate_bias", gate_bias, &[op.gate.count, op.gate.each.rows])?;
        check.room("up_bias", up_bias, &[op.gate.count, op.gate.each.rows])?;
    }
    check.room("tiles", &op.tiles.table, &[op.tiles.count])?;
    if op.m == 0 || op.tiles.count == 0 {
        return Ok(());
    }
    let constants = kernels::GemvGatedConstants {
        k: matrix.columns,
        batch: variant.batch as u32,
        split: variant.split as u32,
        chunk: variant.chunk as u32,
        tiled: matrix.tiled,
        packed_x: op.packed_x,
        pairs: variant.pairs,
        packed_y: op.packed_y,
        normed_x: false,
        bias: op.biases.is_some(),
        experts: true,
        gelu: false,
        clamped_gate: op.function == ExpertGate::ClampedSwiglu,
    };
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let ([x, packed_x], [y, packed_y]) = (either(op.x, op.packed_x), either(op.y, op.packed_y));
    let arguments = kernels::GemvGatedArgs {
        gate: op.gate.each.data,
        up: op.up.each.data,
        x,
        y,
        p,
        packed_x,
        packed_y,
        squares: None,
        epsilon: None,
        gate_bias: op.biases.map(|[bias, _]| bias),
        up_bias: op.biases.map(|[_, bias]| bias),
        tiles: Some(op.tiles.table),
    };
    describe(encoding, &OPERATIONS[2 + usize::from(op.packed_x)], op.m, &op.gate, op.activation);
    let grid = DispatchGrid::plane(op.tiles.count, op.gate.each.rows.div_ceil(TILE_ROWS), variant.split);
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

fn gemm_experts(encoding: &mut Encoding<'_>, op: GemvExperts<'_>) -> Result<()> {
    let kernel = gemm_kernels::Gemm::select(op.w.each.format, op.activation);
    let check = Check::new("gemm_experts", kernel.info());
    if op.packed_x {
        return check.error("there are no products with packed vectors");
    }
    let size = GemmTile::Medium.size();
    if op.tiles.vectors > size {
        return check.error(format_args!("tiles of {} vectors: at most {size} are possible", op.tiles.vectors));
    }
    let matrix = check_experts(&check, &op)?;
    check_alignment(&check, "x", &op.x)?;
    check_tiles(&check, &op.w.each)?;
    if op.m == 0 || op.tiles.count == 0 {
        return Ok(());
    }
    let tiles = op.tiles.count.saturating_mul(op.w.each.rows.div_ceil(size));
    let ahead = steps_ahead(encoding, op.activation, op.w.each.columns, tiles);
    let constants = gemm_kernels::GemmConstants {
        k: matrix.columns,
        bias: op.bias.is_some(),
        residual: false,
        rounded: encoding.rounds,
        half_x: false,
        ahead,
        wide: multiplies_wide(encoding, op.activation, ahead),
        tiled: matrix.tiled,
        experts: true,
    };
    let p = &gemm_kernels::GemmParams { n: matrix.rows, m: check.count("m", op.m)? };
    let (w, x, y, bias, tiles) = (op.w.each.data, op.x, op.y, op.bias, Some(op.tiles.table));
    let arguments = gemm_kernels::GemmArgs { w, x, y, bias, residual: None, p, tiles };
    describe(encoding, &OPERATIONS[4], op.m, &op.w, op.activation);
    let grid = DispatchGrid::plane(op.tiles.count, op.w.each.rows.div_ceil(size), GemmTile::Medium.simdgroups());
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

fn describe(
    encoding: &mut Encoding<'_>,
    operation: &'static Operation,
    m: usize,
    w: &ExpertMatrices<'_>,
    activation: Activation,
) {
    let sizes = [('M', m), ('N', w.each.rows), ('K', w.each.columns), ('E', w.count)];
    encoding.describe(operation, (w.each.format, activation), &sizes);
}

/// The variant whose batches are the tiles.
fn variant(
    check: &Check<'_>,
    encoding: &Encoding<'_>,
    tiles: &ExpertTiles<'_>,
    w: &Matrix<'_>,
    packed: bool,
) -> Result<GemvVariant> {
    let variant = encoding.tuning.product(packed, tiles.vectors, w.rows, w.columns);
    variant.check(check, packed)?;
    match tiles.vectors <= variant.batch {
        true => Ok(variant),
        false => {
            check.error(format_args!("tiles of {} vectors: at most {} are possible", tiles.vectors, variant.batch))
        }
    }
}

fn check_experts<'a>(check: &Check<'_>, op: &GemvExperts<'a>) -> Result<CheckedMatrix<'a>> {
    let matrix = check_matrices(check, "w", &op.w)?;
    check_vectors(check, &op.x, op.packed_x, op.x_rows, &op.w.each)?;
    check.room("y", &op.y, &[op.m, op.w.each.rows])?;
    if let Some(bias) = &op.bias {
        check.room("bias", bias, &[op.w.count, op.w.each.rows])?;
    }
    check.room("tiles", &op.tiles.table, &[op.tiles.count])?;
    Ok(matrix)
}

/// Checks that there are the matrices of all experts.
fn check_matrices<'a>(check: &Check<'_>, name: &str, w: &ExpertMatrices<'a>) -> Result<CheckedMatrix<'a>> {
    let checked = matrix(check, name, &w.each)?;
    checked.whole_pieces(check)?;
    let bytes = w.each.layout.matrix_bytes(w.each.format, w.each.rows, w.each.columns).ok();
    match bytes.and_then(|bytes| bytes.checked_mul(w.count)) {
        Some(bytes) if bytes <= w.each.data.len() && w.count > 0 => Ok(checked),
        _ => {
            let (count, len) = (w.count, w.each.data.len());
            check.error(format_args!("{name} has {len} bytes, too few for the matrices of {count} experts"))
        }
    }
}

/// The vectors of a case, and their experts.
struct TiledVectors {
    x: Array,
    x_rows: usize,
    table: compute::Buffer,
    tiles: Vec<ExpertTile>,
}

impl TiledVectors {
    /// Tiles of B vectors. Tiles of one share vectors, as the experts of a token do.
    fn new(
        maker: &Maker<'_>,
        case: &Case,
        packed: bool,
    ) -> std::result::Result<TiledVectors, crate::cases::Problem> {
        let (m, tile, experts) = (case.shape['M'], case.shape['B'], case.shape['E']);
        let shared = if tile == 1 { 2 } else { 1 };
        let x_rows = m.div_ceil(shared);
        let mut tiles: Vec<ExpertTile> = (0..m.div_ceil(tile))
            .map(|index| {
                let (expert, first) = ((5 * index + 1) % experts, index * tile);
                let count = tile.min(m - first);
                let [expert, count, x, y] = [expert, count, first / shared, first].map(|number| number as u32);
                ExpertTile { expert, count, x, y }
            })
            .collect();
        // One that is not used, as GroupExperts leaves them.
        tiles.resize(tiles.len() + usize::from(tile > 1), ExpertTile::default());
        let x = maker.vectors(&[x_rows, case.shape['K']], case.activation, packed)?;
        let table = maker.integers(bytemuck::cast_slice(&tiles))?;
        Ok(TiledVectors { x, x_rows, table, tiles })
    }

    fn tiles(&self, vectors: usize) -> ExpertTiles<'_> {
        ExpertTiles { table: all(&self.table), count: self.tiles.len(), vectors }
    }

    /// The products of all vectors with the matrices of their experts, with a bias.
    fn products(&self, w: &ExpertWeights, bias: Option<&[f64]>) -> Vec<f64> {
        let x = self.x.numbers();
        let rows = self.tiles.iter().flat_map(|tile| (0..tile.count).map(move |i| (tile.expert, tile.x + i)));
        rows.flat_map(|(expert, x_row)| {
            let expert = expert as usize;
            let x = &x[x_row as usize * w.columns..][..w.columns];
            let product = formulas::matrix_product(&w.expert(expert), w.columns, x);
            let bias = bias.map(|bias| &bias[expert * w.rows..][..w.rows]);
            bias.map_or_else(|| product.clone(), |bias| formulas::sum(&product, bias))
        })
        .collect()
    }
}

fn build(maker: &Maker<'_>, case: &Case, packed_x: bool) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (experts, vectors) = (case.shape['E'], case.shape['B']);
    let w = maker.experts(case, experts, n, k)?;
    let input = TiledVectors::new(maker, case, packed_x)?;
    let y = maker.output("y", &[m, n], activation.into())?;
    let bias = maker.is_check().then(|| maker.activations(&[experts, n], Activation::F32)).transpose()?;
    maker.expect(&y, || input.products(&w, bias.as_ref().map(|bias| bias.numbers()).as_deref()));
    Ok(Box::new(move |encoding| {
        let (x, x_rows, tiles) = (all(&input.x), input.x_rows, input.tiles(vectors));
        let (w, y, bias) = (w.matrices(), y.slice(), bias.as_ref().map(all));
        gemv_experts(encoding, GemvExperts { w, x, x_rows, y, bias, m, tiles, activation, packed_x })
    }))
}

fn build_gated(maker: &Maker<'_>, case: &Case, packed_x: bool) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let (experts, vectors) = (case.shape['E'], case.shape['B']);
    let (gate, up) = (maker.experts(case, experts, n, k)?, maker.experts(case, experts, n, k)?);
    let input = TiledVectors::new(maker, case, packed_x)?;
    let y = maker.output("y", &[m, n], activation.into())?;
    let is_clamped = case.shape.get('T').is_some();
    let bias = || maker.activations(&[experts, n], Activation::F32);
    let biases = if is_clamped { Some([bias()?, bias()?]) } else { None };
    maker.expect(&y, || {
        let products = |w: &ExpertWeights, index: usize| {
            let bias = biases.as_ref().map(|biases| biases[index].numbers());
            input.products(w, bias.as_deref())
        };
        let function = if is_clamped { formulas::clamped_swiglu } else { formulas::swiglu };
        products(&gate, 0).into_iter().zip(products(&up, 1)).map(|(gate, up)| function(gate, up)).collect()
    });
    let function = if is_clamped { ExpertGate::ClampedSwiglu } else { ExpertGate::Silu };
    Ok(Box::new(move |encoding| {
        let op = GemvGatedExperts {
            gate: gate.matrices(),
            up: up.matrices(),
            x: all(&input.x),
            x_rows: input.x_rows,
            y: y.slice(),
            biases: biases.as_ref().map(|biases| biases.each_ref().map(all)),
            function,
            m,
            tiles: input.tiles(vectors),
            activation,
            packed_x,
            packed_y: false,
        };
        gemv_gated_experts(encoding, op)
    }))
}
