//! Gated delta rule, a recurrence over tokens: `delta_net` of `delta_net.metal`.

use super::causal_conv::{check_recurrence, check_states, own_rows};
use super::kv_cache::CacheRows;
use crate::cases::{Built, Case, Maker, Operation, Variants, all, formulas};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter, SIMD_WIDTH};
use crate::metal::kernels::delta_net as kernels;
use crate::metal::library::BufferSlice;
use compute::{Result, Size};
use std::mem::offset_of;

/// Cases to measure and to check: one token, and those of a prompt.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "delta_net",
        kernels: &["delta_net"],
        variants: Variants::Activations,
        shape: "M=1 H=16 G=16 D=128",
        checks: &["M=1 H=4 G=2 D=64", "M=1 H=3 G=3 D=32 P=0"],
        bytes,
        flops,
        build,
    },
    Operation {
        name: "delta_net_prompt",
        kernels: &["delta_net"],
        variants: Variants::Activations,
        shape: "M=128 H=16 G=16 D=128",
        checks: &[
            "M=7 H=4 G=2 D=64 C=6",
            "M=35 H=4 G=2 D=32 X=1",
            "M=34 H=2 G=1 D=32 C=33 P=0",
            "M=3 H=1 G=1 D=128",
        ],
        bytes,
        flops,
        build,
    },
];

/// Queries, keys, values, gates and outputs, and the state in and out.
fn bytes(case: &Case) -> f64 {
    let token = 2.0 * case.g() * case.d() + 2.0 * case.h() * (case.d() + 1.0);
    case.a(case.m() * token) + 8.0 * case.h() * (case.d() * case.d() + 1.0)
}

/// Two products with the state, its decay, and its update.
fn flops(case: &Case) -> f64 {
    7.0 * case.m() * case.h() * case.d() * case.d()
}

/// [`delta_net`]: the outputs and the next state of a gated delta-net layer.
#[derive(Clone, Copy, Debug)]
pub struct DeltaNet<'a> {
    /// `[tokens, (2 · key_heads + heads) · head_dim]` activations: queries, keys and values.
    pub qkv: BufferSlice<'a>,
    /// `[tokens, heads]` activations: of the decay.
    pub alpha: BufferSlice<'a>,
    /// `[tokens, heads]` activations: of the learning rate.
    pub beta: BufferSlice<'a>,
    /// `[heads]` f32: factor of the decay, negative.
    pub decay: BufferSlice<'a>,
    /// `[heads]` f32: added to `alpha`.
    pub bias: BufferSlice<'a>,
    /// `[heads, head_dim / 32, head_dim, 32]` f32 of each sequence: the state before the first token; after the last one
    /// then.
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
    /// Tokens that are no padding: at least 1. The rows of `y` for padding are 0.
    pub count: usize,
    /// Position of the first token. At position 0, the state before it is 0.
    pub first: usize,
    /// Heads of values.
    pub heads: usize,
    /// Heads of queries and of keys.
    pub key_heads: usize,
    /// Value heads with the same keys are adjacent, as in Hugging Face's files, rather than `key_heads` apart, as in
    /// GGUF.
    pub adjacent: bool,
    /// Numbers in a head: a multiple of 32, at most 256.
    pub head_dim: usize,
    /// The type of activations.
    pub activation: Activation,
}

impl DeltaNet<'_> {
    pub(crate) const FIRST: PatchedParameter = PatchedParameter {
        index: kernels::DeltaNetArgs::P_INDEX,
        offset: offset_of!(kernels::DeltaNetParams, first),
    };
    pub(crate) const COUNT: PatchedParameter = PatchedParameter {
        index: kernels::DeltaNetArgs::P_INDEX,
        offset: offset_of!(kernels::DeltaNetParams, count),
    };

    pub(crate) const SEQUENCE: PatchedParameter = PatchedParameter {
        index: kernels::DeltaNetArgs::P_INDEX,
        offset: offset_of!(kernels::DeltaNetParams, sequence),
    };

    /// Bytes of the state.
    pub fn state_bytes(heads: usize, head_dim: usize) -> usize {
        heads * head_dim * head_dim * size_of::<f32>()
    }
}

/// Computes the gated delta rule.
pub fn delta_net(encoding: &mut Encoding<'_>, op: DeltaNet<'_>) -> Result<()> {
    let kernel = kernels::DeltaNet::select(op.activation);
    let check = Check::new("delta_net", kernel.info());
    if op.tokens == 0 {
        return Ok(());
    }
    let DeltaNet { tokens, head_dim: dim, .. } = op;
    let [head_dim, count] = check_recurrence(&check, dim, op.count, tokens)?;
    let (heads, key_heads) = (check.count("heads", op.heads)?, check.count("key_heads", op.key_heads)?);
    if !heads.is_multiple_of(key_heads) {
        return check
            .error(format_args!("{heads} heads of values are not a multiple of {key_heads} heads of keys"));
    }
    let channels = (2 * op.key_heads).saturating_add(op.heads).saturating_mul(dim);
    check.count("channels", channels)?;
    let qkv = check.room("qkv", &op.qkv, &[tokens, channels])?;
    let alpha = check.room("alpha", &op.alpha, &[tokens, op.heads])?;
    let beta = check.room("beta", &op.beta, &[tokens, op.heads])?;
    check.room("decay", &op.decay, &[op.heads])?;
    check.room("bias", &op.bias, &[op.heads])?;
    let (state_bytes, strides) = (DeltaNet::state_bytes(op.heads, dim), [op.state_stride, op.sequences]);
    let [sequence, stride] = check_states(&check, &op.state, state_bytes, strides, &op.rows)?;
    let state = check.elements("state", &op.state, &[op.state.len()], 1)?;
    let y = check.room("y", &op.y, &[tokens, op.heads, dim])?;
    for input in [&qkv, &alpha, &beta, &state] {
        check.no_overlap(&y, input)?;
    }
    let simdgroups = encoding.tuning.state_simdgroups(dim);
    let (positions, sequences, rows) = own_rows(&op.rows);
    let (first, count_of_tokens) = (op.first as u32, check.count("tokens", tokens)?);
    let params = kernels::DeltaNetParams { first, count, tokens: count_of_tokens, sequence, stride };
    let constants = kernels::DeltaNetConstants {
        simdgroups: simdgroups as u32,
        head_dim,
        heads,
        key_heads,
        adjacent: op.adjacent,
        row_sequences: positions.is_some(),
    };
    let arguments = kernels::DeltaNetArgs {
        qkv: op.qkv,
        alpha: op.alpha,
        beta: op.beta,
        decay: op.decay,
        bias: op.bias,
        state: op.state,
        y: op.y,
        p: &params,
        positions,
        sequences,
    };
    let sizes = [('M', tokens), ('H', op.heads), ('G', op.key_heads), ('D', dim)];
    encoding.describe(&OPERATIONS[usize::from(tokens > 1)], op.activation, &sizes);
    let threadgroups = Size::new(dim / SIMD_WIDTH, op.heads, rows);
    encoding.dispatch(kernel, &constants, &arguments, DispatchGrid { threadgroups, simdgroups })
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, key_heads) = (case.shape['M'], case.shape['H'], case.shape['G']);
    let (head_dim, activation) = (case.shape['D'], case.activation);
    let (count, first) = (case.shape.get('C').unwrap_or(tokens), case.shape.get('P').unwrap_or(7));
    let adjacent = case.shape.get('X').is_some();
    let channels = (2 * key_heads).saturating_add(heads).saturating_mul(head_dim);
    let qkv = maker.activations(&[tokens, channels], activation)?;
    let gates = || maker.activations(&[tokens, heads], activation);
    let (alpha, beta) = (gates()?, gates()?);
    // Keys of ordinary length would let the state grow: measured states decay to 0 within a token.
    let decay: Vec<f32> = (0..heads).map(|head| -maker.parameter(64.0, 0.125 * (head + 1) as f32)).collect();
    let decay = maker.floats(&decay)?;
    let bias = maker.activations(&[heads], Activation::F32)?;
    let state = maker.activations(&[heads, head_dim, head_dim], Activation::F32)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let changed = maker.changed("state", &state, Activation::F32.into());
    let rule = || {
        let (qkv, alpha, beta) = (qkv.numbers(), alpha.numbers(), beta.numbers());
        let (decay, bias) = (decay.numbers(), bias.numbers());
        let (mut s, mut y) = (state.numbers(), vec![0.0; tokens * heads * head_dim]);
        if first == 0 {
            s.fill(0.0);
        }
        // Row i, column j of the state of a head.
        let at = |head: usize, i: usize, j: usize| {
            ((head * head_dim / SIMD_WIDTH + j / SIMD_WIDTH) * head_dim + i) * SIMD_WIDTH + j % SIMD_WIDTH
        };
        for token in 0..count {
            let part = |head: usize| &qkv[token * channels + head * head_dim..][..head_dim];
            for head in 0..heads {
                let key_head = if adjacent { head / (heads / key_heads) } else { head % key_heads };
                let (q, k, v) = (part(key_head), part(key_heads + key_head), part(2 * key_heads + head));
                let gate = token * heads + head;
                let g = (decay[head] * (alpha[gate] + bias[head]).exp().ln_1p()).exp();
                for j in 0..head_dim {
                    (0..head_dim).for_each(|i| s[at(head, i, j)] *= g);
                    let read: f64 = (0..head_dim).map(|i| s[at(head, i, j)] * k[i]).sum();
                    let delta = formulas::sigmoid(beta[gate]) * (v[j] - read);
                    (0..head_dim).for_each(|i| s[at(head, i, j)] += k[i] * delta);
                    let sum: f64 = (0..head_dim).map(|i| s[at(head, i, j)] * q[i]).sum();
                    y[(token * heads + head) * head_dim + j] = sum / (head_dim as f64).sqrt();
                }
            }
        }
        (y, s)
    };
    maker.expect(&y, || rule().0);
    maker.expect(&changed, || rule().1);
    Ok(Box::new(move |encoding| {
        let op = DeltaNet {
            qkv: all(&qkv),
            alpha: all(&alpha),
            beta: all(&beta),
            decay: all(&decay),
            bias: all(&bias),
            state: all(&state),
            y: y.slice(),
            rows: CacheRows::Sequence(0),
            state_stride: 0,
            sequences: 1,
            tokens,
            count,
            first,
            heads,
            key_heads,
            adjacent,
            head_dim,
            activation,
        };
        delta_net(encoding, op)
    }))
}
