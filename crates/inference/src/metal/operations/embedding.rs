//! Token embeddings: `embedding.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH, matrix};
use crate::metal::kernels::embedding as kernels;
use crate::metal::layout::{Layout, Matrix};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "embedding",
        kernels: &["embedding"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=512 N=vocabulary K=width",
        checks: &["M=3 N=50 K=96"],
        bytes: table_bytes,
        flops: |c| 2.0 * c.m() * c.k(),
        build: build_tiles,
    },
    Operation {
        name: "embedding_blocks",
        kernels: &["embedding"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=512 N=vocabulary K=width",
        checks: &["M=3 N=50 K=96"],
        bytes: table_bytes,
        flops: |c| 2.0 * c.m() * c.k(),
        build: build_blocks,
    },
    Operation {
        name: "embedding_rows",
        kernels: &["embedding_rows"],
        variants: Variants::Weights(&Format::PLAIN),
        shape: "M=512 N=vocabulary K=width",
        checks: &["M=3 N=50 K=77"],
        bytes: table_bytes,
        flops: |c| 2.0 * c.m() * c.k(),
        build: build_blocks,
    },
];

fn table_bytes(c: &Case) -> f64 {
    c.w(c.m() * c.k()) + c.a(c.m() * c.k()) + 4.0 * c.m()
}

/// Simdgroups in a threadgroup.
const SIMDGROUPS: usize = 8;

/// [`embedding`]: `y[t] = table[tokens[t]] · scale`.
#[derive(Clone, Copy, Debug)]
pub struct Embedding<'a> {
    /// `[vocabulary, dim]` numbers.
    pub table: Matrix<'a>,
    /// `[count]` u32. A token outside of the table gives a row of NaN.
    pub tokens: BufferSlice<'a>,
    /// `[count, dim]` activations.
    pub y: BufferSlice<'a>,
    /// Number of tokens.
    pub count: usize,
    /// Factor of every number; 1 for most models.
    pub scale: f32,
    /// The type of y.
    pub activation: Activation,
}

/// Looks up the rows of tokens in a table.
pub fn embedding(encoding: &mut Encoding<'_>, op: Embedding<'_>) -> Result<()> {
    let kernel = kernels::Embedding::select(op.table.format, op.activation);
    let check = Check::new("embedding", kernel.info());
    let table = matrix(&check, "table", &op.table)?;
    check.room("tokens", &op.tokens, &[op.count])?;
    check.room("y", &op.y, &[op.count, op.table.columns])?;
    if op.count == 0 {
        return Ok(());
    }
    let (dim, vocabulary, simdgroups) = (table.columns, table.rows, SIMDGROUPS as u32);
    let (data, tokens, y, scale) = (op.table.data, op.tokens, op.y, op.scale);
    let sizes = [('M', op.count), ('N', op.table.rows), ('K', op.table.columns)];
    let grid = |numbers: usize| {
        let width = op.table.columns.div_ceil(SIMDGROUPS * SIMD_WIDTH * numbers);
        DispatchGrid::plane(width, op.count, SIMDGROUPS)
    };
    if op.table.layout == Layout::Blocks
        && let Some(kernel) = kernels::EmbeddingRows::select(op.table.format, op.activation)
    {
        let constants = kernels::EmbeddingRowsConstants { dim, vocabulary, simdgroups };
        let arguments = kernels::EmbeddingRowsArgs { table: data, tokens, y, scale };
        encoding.describe(&OPERATIONS[2], (op.table.format, op.activation), &sizes);
        return encoding.dispatch(kernel, &constants, &arguments, grid(1));
    }
    table.whole_pieces(&check)?;
    let constants = kernels::EmbeddingConstants { dim, vocabulary, simdgroups, tiled: table.tiled };
    let arguments = kernels::EmbeddingArgs { table: data, tokens, y, scale };
    encoding.describe(&OPERATIONS[0], (op.table.format, op.activation), &sizes);
    encoding.dispatch(kernel, &constants, &arguments, grid(if table.tiled { 4 } else { 1 }))
}

fn build_tiles(maker: &Maker<'_>, case: &Case) -> Built {
    build_layout(maker, case, Layout::Tiles)
}

fn build_blocks(maker: &Maker<'_>, case: &Case) -> Built {
    build_layout(maker, case, Layout::Blocks)
}

fn build_layout(maker: &Maker<'_>, case: &Case, layout: Layout) -> Built {
    let (count, vocabulary, dim, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let table = maker.weights(case.format.unwrap_or(Format::F32), layout, vocabulary, dim)?;
    let (tokens, y) = (maker.tokens(count, vocabulary)?, maker.output("y", &[count, dim], activation.into())?);
    let scale = maker.parameter(1.0, 1.5);
    maker.expect(&y, || {
        let numbers = table.numbers();
        let rows = tokens.read::<u32>().into_iter().flat_map(|token| &numbers[token as usize * dim..][..dim]);
        rows.map(|number| number * f64::from(scale)).collect()
    });
    Ok(Box::new(move |encoding| {
        let (table, tokens, y) = (table.matrix(), all(&tokens), y.slice());
        embedding(encoding, Embedding { table, tokens, y, count, scale, activation })
    }))
}
