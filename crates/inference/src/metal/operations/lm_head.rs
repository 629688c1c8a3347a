//! Logits of the whole vocabulary: `lm_head.metal`.

use super::gemv::{GemvVariant, check_vectors, either};
use crate::cases::{Built, Case, Maker, Number, Operation, Variants, all, formulas};
use crate::formats::{Activation, Format};
use crate::metal::dispatch::{Check, CheckedMatrix, DispatchGrid, Encoding, matrix};
use crate::metal::kernels::lm_head as kernels;
use crate::metal::layout::{Matrix, TILE_ROWS};
use crate::metal::library::BufferSlice;
use compute::Result;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "lm_head",
        kernels: &["lm_head"],
        variants: Variants::Weights(&Format::ALL),
        shape: "M=1 N=vocabulary K=width",
        checks: &["M=2 N=101 K=288"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()) + 4.0 * c.mn(),
        flops: |c| 2.0 * c.mnk(),
        build: build_logits,
    },
    Operation {
        name: "lm_head_packed",
        kernels: &["lm_head"],
        variants: Variants::Weights(&Format::QUANTIZED),
        shape: "M=1 N=vocabulary K=width",
        checks: &["M=2 N=101 K=288"],
        bytes: |c| c.w(c.n() * c.k()) + c.packed(c.m() * c.k()) + 4.0 * c.mn(),
        flops: |c| 2.0 * c.mnk(),
        build: build_packed,
    },
    Operation {
        name: "lm_head_best",
        kernels: &["lm_head", "lm_head_argmax"],
        variants: Variants::Weights(&[Format::Q8_0]),
        shape: "M=1 N=vocabulary K=width",
        checks: &["M=3 N=101 K=288"],
        bytes: |c| c.w(c.n() * c.k()) + c.a(c.m() * c.k()),
        flops: |c| 2.0 * c.mnk(),
        build: build_argmax,
    },
];

/// [`lm_head`]: `logits[m,n] = Σ_k w[n,k] · x[m,k]`.
#[derive(Clone, Copy, Debug)]
pub struct LmHead<'a> {
    /// `[n, k]` weights, a row for each token.
    pub w: Matrix<'a>,
    /// `[m, k]` activations, or packed.
    pub x: BufferSlice<'a>,
    /// Results to store.
    pub result: LmHeadResult<'a>,
    /// Number of sequences.
    pub m: usize,
    /// The type of x.
    pub activation: Activation,
    /// x has blocks of [`super::pack`]: for formats that are not plain.
    pub packed_x: bool,
}

/// Results that [`lm_head`] stores.
#[derive(Clone, Copy, Debug)]
pub enum LmHeadResult<'a> {
    /// All logits.
    Logits(BufferSlice<'a>),
    /// The token with the largest logit, for each sequence.
    Argmax(LmHeadArgmax<'a>),
    /// Both.
    Both(BufferSlice<'a>, LmHeadArgmax<'a>),
}

/// Buffers for the tokens with the largest logits.
#[derive(Clone, Copy, Debug)]
pub struct LmHeadArgmax<'a> {
    /// `[m]` u32; among equal logits, the lowest token.
    pub tokens: BufferSlice<'a>,
    /// [`LmHeadArgmax::scratch_bytes`] bytes that nothing else uses during the dispatch.
    pub scratch: BufferSlice<'a>,
}

impl LmHeadArgmax<'_> {
    /// Bytes for the best token of each tile: its key and the token.
    pub fn scratch_bytes(vocabulary: usize, m: usize) -> usize {
        vocabulary.div_ceil(TILE_ROWS).saturating_mul(m).saturating_mul(8)
    }
}

/// Computes the logits of all tokens, picks the token with the largest, or both.
pub fn lm_head(encoding: &mut Encoding<'_>, op: LmHead<'_>) -> Result<()> {
    lm_head_with(encoding, op, encoding.product(op.packed_x, op.m, &op.w))
}

/// [`lm_head`] with a given variant.
pub fn lm_head_with(encoding: &mut Encoding<'_>, op: LmHead<'_>, variant: GemvVariant) -> Result<()> {
    let kernel = kernels::LmHead::select(op.w.format, op.activation);
    let check = Check::new("lm_head", kernel.info());
    variant.check(&check, op.packed_x)?;
    let matrix = matrix(&check, "w", &op.w)?;
    matrix.whole_pieces(&check)?;
    check_vectors(&check, &op.x, op.packed_x, op.m, &op.w)?;
    let (logits, argmax) = match op.result {
        LmHeadResult::Logits(logits) => (Some(logits), None),
        LmHeadResult::Argmax(argmax) => (None, Some(argmax)),
        LmHeadResult::Both(logits, argmax) => (Some(logits), Some(argmax)),
    };
    if let Some(logits) = &logits {
        check.room("logits", logits, &[op.m, op.w.rows])?;
    }
    let tiles = op.w.rows.div_ceil(TILE_ROWS);
    if let Some(argmax) = &argmax {
        check.elements("tokens", &argmax.tokens, &[op.m], 4)?;
        check.elements("scratch", &argmax.scratch, &[op.m, tiles], 8)?;
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
    let simdgroups = encoding.tuning.row_simdgroups(tiles);
    let constants = kernels::LmHeadArgmaxConstants { simdgroups: simdgroups as u32 };
    encoding.dispatch(kernels::LM_HEAD_ARGMAX, &constants, &arguments, DispatchGrid::linear(op.m, simdgroups))
}

fn encode(
    encoding: &mut Encoding<'_>,
    check: &Check<'_>,
    op: LmHead<'_>,
    variant: GemvVariant,
    matrix: &CheckedMatrix<'_>,
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
        packed_x: op.packed_x,
        pairs: variant.pairs,
    };
    let p = &kernels::GemvParams { n: matrix.rows, m: check.count("m", op.m)? };
    let [x, packed_x] = either(op.x, op.packed_x);
    let arguments = kernels::LmHeadArgs { w: op.w.data, x, logits, keys, tokens, p, packed_x };
    let kernel = kernels::LmHead::select(op.w.format, op.activation);
    encoding.describe(
        &OPERATIONS[match (logits.is_none(), op.packed_x) {
            (true, _) => 2,
            (false, packed) => usize::from(packed),
        }],
        (op.w.format, op.activation),
        &[('M', op.m), ('N', op.w.rows), ('K', op.w.columns)],
    );
    encoding.dispatch(kernel, &constants, &arguments, variant.grid(op.m, op.w.rows.div_ceil(TILE_ROWS)))
}

fn build_logits(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, false)
}

fn build_packed(maker: &Maker<'_>, case: &Case) -> Built {
    build_with(maker, case, true)
}

fn build_with(maker: &Maker<'_>, case: &Case, packed_x: bool) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = maker.matrix(case, n, k)?;
    let (x, logits) =
        (maker.vectors(&[m, k], activation, packed_x)?, maker.output("logits", &[m, n], Number::F32)?);
    maker.expect(&logits, || formulas::product(&w, &x.numbers()));
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Logits(logits.slice());
        lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation, packed_x })
    }))
}

fn build_argmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (m, n, k, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let w = maker.matrix(case, n, k)?;
    let (x, packed_x) = (maker.activations(&[m, k], activation)?, false);
    let tokens = maker.output("tokens", &[m], Number::U32)?;
    maker.expect(&tokens, || {
        formulas::product(&w, &x.numbers()).chunks(n).map(|row| formulas::argmax(row) as f64).collect()
    });
    let scratch = maker.zeros(&[LmHeadArgmax::scratch_bytes(n, m)], 1)?;
    Ok(Box::new(move |encoding| {
        let result = LmHeadResult::Argmax(LmHeadArgmax { tokens: tokens.slice(), scratch: all(&scratch) });
        lm_head(encoding, LmHead { w: w.matrix(), x: all(&x), result, m, activation, packed_x })
    }))
}
