//! Causal convolution of channels over tokens, with a state: `causal_conv` of `delta_net.metal`.

use super::kv_cache::CacheRows;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter, SIMD_WIDTH};
use crate::metal::kernels::delta_net as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

pub use crate::metal::kernels::delta_net::CONV_WIDTH;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "causal_conv",
    kernels: &["causal_conv"],
    variants: Variants::Activations,
    shape: "M=1 H=16 G=16 D=128",
    checks: &["M=9 H=3 G=1 D=64 C=8", "M=2 H=2 G=2 D=32", "M=6 H=4 G=1 D=96 C=5 P=0", "M=1 H=1 G=1 D=32 P=0"],
    bytes: |c| c.a(2.0 * c.m() * channels(c)) + 4.0 * channels(c) * (CONV_WIDTH + 2 * (CONV_WIDTH - 1)) as f64,
    flops: |c| 14.0 * c.m() * channels(c),
    build,
}];

fn channels(case: &Case) -> f64 {
    (2.0 * case.g() + case.h()) * case.d()
}

/// [`causal_conv`]: y = silu of a convolution over four tokens, then the L2 norm of some heads.
#[derive(Clone, Copy, Debug)]
pub struct CausalConv<'a> {
    /// `[tokens, heads · head_dim]` activations.
    pub x: BufferSlice<'a>,
    /// `[heads · head_dim, 4]` f32; the last weight is that of the token itself.
    pub w: BufferSlice<'a>,
    /// `[3, heads · head_dim]` f32 of each sequence: the inputs before the first token, oldest first. Those before the
    /// next one after.
    pub state: BufferSlice<'a>,
    /// `[tokens, heads · head_dim]` activations.
    pub y: BufferSlice<'a>,
    /// Sequences of the rows.
    pub rows: CacheRows<'a>,
    /// Bytes from the state of a sequence to that of the next: a multiple of 4.
    pub state_stride: usize,
    /// Number of sequences.
    pub sequences: usize,
    /// Number of tokens, with padding.
    pub tokens: usize,
    /// Tokens that are no padding: at least 1. The rows of `y` for padding are unspecified.
    pub count: usize,
    /// Position of the first token. At position 0, there are zeros before it.
    pub first: usize,
    /// Number of heads.
    pub heads: usize,
    /// Heads at the beginning of a row that are normalized.
    pub normed: usize,
    /// Numbers in a head: a multiple of 32, at most 256.
    pub head_dim: usize,
    /// The type of x and y.
    pub activation: Activation,
}

impl CausalConv<'_> {
    pub(crate) const FIRST: PatchedParameter = PatchedParameter {
        index: kernels::CausalConvArgs::P_INDEX,
        offset: offset_of!(kernels::CausalConvParams, first),
    };
    pub(crate) const COUNT: PatchedParameter = PatchedParameter {
        index: kernels::CausalConvArgs::P_INDEX,
        offset: offset_of!(kernels::CausalConvParams, count),
    };

    pub(crate) const SEQUENCE: PatchedParameter = PatchedParameter {
        index: kernels::CausalConvArgs::P_INDEX,
        offset: offset_of!(kernels::CausalConvParams, sequence),
    };

    /// Bytes of the state of so many channels.
    pub fn state_bytes(channels: usize) -> usize {
        (CONV_WIDTH - 1) * channels * size_of::<f32>()
    }
}

/// Checks the size of heads, and the number of real tokens.
pub(super) fn check_recurrence(
    check: &Check<'_>,
    head_dim: usize,
    count: usize,
    tokens: usize,
) -> Result<[u32; 2]> {
    let dim = check.count("head_dim", head_dim)?;
    if !head_dim.is_multiple_of(SIMD_WIDTH) || head_dim > kernels::MAX_HEAD {
        return check.error(format_args!(
            "heads of {head_dim} numbers: it must be a multiple of {SIMD_WIDTH}, at most {}",
            kernels::MAX_HEAD
        ));
    }
    if !(1..=tokens).contains(&count) {
        return check.error(format_args!("{count} of {tokens} tokens are no padding: it must be 1 to {tokens}"));
    }
    Ok([dim, check.count("count", count)?])
}

/// Checks the states of all sequences, whose arrays of `bytes` bytes are `stride` bytes apart, and the rows. Returns
/// the sequence of all rows, and the stride in numbers.
pub(super) fn check_states(
    check: &Check<'_>,
    state: &BufferSlice<'_>,
    bytes: usize,
    [stride, sequences]: [usize; 2],
    rows: &CacheRows<'_>,
) -> Result<[u32; 2]> {
    check.count("sequences", sequences)?;
    if sequences > 1 && (stride < bytes || !stride.is_multiple_of(4)) {
        return check.error(format_args!("states of {bytes} bytes every {stride}: it must be a multiple of 4"));
    }
    let end = stride.saturating_mul(sequences - 1).saturating_add(bytes);
    check.elements("state", state, &[end], 1)?;
    let sequence = match *rows {
        CacheRows::Sequence(sequence) if sequence >= sequences => {
            return check.error(format_args!("sequence {sequence}, but there are {sequences} states"));
        }
        CacheRows::Sequence(sequence) => sequence as u32,
        CacheRows::Each { count, positions, sequences } => {
            check.elements("positions", &positions, &[count], 4)?;
            check.elements("sequences", &sequences, &[count], 4)?;
            0
        }
    };
    Ok([sequence, check.count("state_stride", (stride / 4).max(1))?])
}

/// Positions and sequences of rows that have their own, and the number of groups of rows.
pub(super) fn own_rows<'a>(rows: &CacheRows<'a>) -> (Option<BufferSlice<'a>>, Option<BufferSlice<'a>>, usize) {
    match *rows {
        CacheRows::Sequence(_) => (None, None, 1),
        CacheRows::Each { count, positions, sequences } => (Some(positions), Some(sequences), count),
    }
}

/// Convolves channels over tokens.
pub fn causal_conv(encoding: &mut Encoding<'_>, op: CausalConv<'_>) -> Result<()> {
    let kernel = kernels::CausalConv::select(op.activation);
    let check = Check::new("causal_conv", kernel.info());
    if op.tokens == 0 {
        return Ok(());
    }
    let [head_dim, count] = check_recurrence(&check, op.head_dim, op.count, op.tokens)?;
    check.count("heads", op.heads)?;
    let width = op.heads.saturating_mul(op.head_dim);
    let channels = check.count("channels", width)?;
    let x = check.room("x", &op.x, &[op.tokens, width])?;
    check.room("w", &op.w, &[width])?;
    let state_bytes = CausalConv::state_bytes(width);
    let strides = [op.state_stride, op.sequences];
    let [sequence, stride] = check_states(&check, &op.state, state_bytes, strides, &op.rows)?;
    let state = check.elements("state", &op.state, &[op.state.len()], 1)?;
    let y = check.room("y", &op.y, &[op.tokens, width])?;
    check.no_overlap(&y, &x)?;
    check.no_overlap(&state, &x)?;
    check.no_overlap(&y, &state)?;
    let (positions, sequences, rows) = own_rows(&op.rows);
    let row_sequences = positions.is_some();
    let simdgroups = encoding.tuning.conv_simdgroups(if row_sequences { 1 } else { op.tokens });
    let (first, normed) = (op.first as u32, op.normed as u32);
    let params = kernels::CausalConvParams { first, count, channels, normed, sequence, stride };
    let constants = kernels::CausalConvConstants { simdgroups: simdgroups as u32, head_dim, row_sequences };
    let (x, w, state, y) = (op.x, op.w, op.state, op.y);
    let arguments = kernels::CausalConvArgs { x, w, state, y, p: &params, positions, sequences };
    let (keys, values) = (op.normed / 2, op.heads - op.normed / 2 * 2);
    let sizes = [('M', op.tokens), ('H', values), ('G', keys), ('D', op.head_dim)];
    encoding.describe(&OPERATIONS[0], op.activation, &sizes);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(op.heads, rows, simdgroups))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, head_dim, activation) = (case.shape['M'], case.shape['D'], case.activation);
    let normed = 2 * case.shape['G'];
    let heads = normed + case.shape['H'];
    let (count, first) = (case.shape.get('C').unwrap_or(tokens), case.shape.get('P').unwrap_or(7));
    let channels = heads.saturating_mul(head_dim);
    let x = maker.activations(&[tokens, channels], activation)?;
    let w = maker.activations(&[channels, CONV_WIDTH], Activation::F32)?;
    let state = maker.activations(&[CONV_WIDTH - 1, channels], Activation::F32)?;
    let y = maker.output("y", &[tokens, channels], activation.into())?;
    let changed = maker.changed("state", &state, Activation::F32.into());
    // All inputs of a channel that the convolution sees.
    let inputs = || {
        let before = state.numbers().into_iter().map(|number| if first == 0 { 0.0 } else { number });
        before.chain(x.numbers().into_iter().take(count * channels)).collect::<Vec<f64>>()
    };
    maker.expect(&y, || {
        let (inputs, w) = (inputs(), w.numbers());
        let convolved = |(index, _): (usize, &f64)| {
            let channel = index % channels;
            let terms = (0..CONV_WIDTH).map(|i| w[channel * CONV_WIDTH + i] * inputs[index + i * channels]);
            let sum: f64 = terms.sum();
            sum * formulas::sigmoid(sum)
        };
        let count = count * channels;
        let mut y: Vec<f64> = inputs[..count].iter().enumerate().map(convolved).collect();
        for (head, numbers) in y.chunks_mut(head_dim).enumerate() {
            let squares: f64 = numbers.iter().map(|number| number * number).sum();
            let norm = if head % heads < normed { (squares + 1e-6).sqrt() } else { 1.0 };
            numbers.iter_mut().for_each(|number| *number /= norm);
        }
        // Padding is not written.
        y.resize(tokens * channels, f64::NAN);
        y
    });
    maker.expect(&changed, || inputs().split_off(count * channels));
    Ok(Box::new(move |encoding| {
        let (x, w, state, y) = (all(&x), all(&w), all(&state), y.slice());
        let op = CausalConv {
            x,
            w,
            state,
            y,
            rows: CacheRows::Sequence(0),
            state_stride: 0,
            sequences: 1,
            tokens,
            count,
            first,
            heads,
            normed,
            head_dim,
            activation,
        };
        causal_conv(encoding, op)
    }))
}
