//! Attention over the cache of keys and values: `attention.metal`.

use super::kv_cache::KvCache;
use super::{Changing, Check, Encoding, Grid};
use crate::metal::format::Activation;
use crate::metal::kernels::attention as kernels;
use crate::metal::library::{BufferSlice, Kernel};
use compute::Result;
use std::mem::offset_of;

/// Queries that a simdgroup takes at most, as in the shader.
const MAX_ROWS: usize = 8;

/// Numbers of these at most, as in the shader.
const MAX_QUERIES: usize = 1024;

/// Queries of `head_dim` numbers that a simdgroup takes at most.
fn most_rows(head_dim: usize) -> usize {
    (MAX_QUERIES / head_dim.max(1)).clamp(1, MAX_ROWS)
}

/// What attention is like in a model.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttentionShape {
    /// Heads of queries: a multiple of those of the cache.
    pub heads: usize,
    /// What products of queries and keys are multiplied with, usually 1 / √head_dim.
    pub scale: f32,
    /// Scores s become cap · tanh(s / cap).
    pub soft_cap: Option<f32>,
    /// How many positions a token sees, itself included; all before it otherwise.
    pub window: Option<usize>,
}

/// [`attention_decode`]: one token.
#[derive(Clone, Copy, Debug)]
pub struct AttentionDecode<'a> {
    /// `[heads, head_dim]` activations.
    pub q: BufferSlice<'a>,
    /// Keys and values, those of the token among them.
    pub cache: KvCache<'a>,
    /// `[heads, head_dim]` activations.
    pub y: BufferSlice<'a>,
    /// Positions in the cache, that of the token included: at least 1.
    pub length: usize,
    /// What it is like.
    pub shape: AttentionShape,
    /// The positions divided between threadgroups, for caches so long, or heads so few, that cores are idle otherwise.
    pub split: Option<AttentionSplit<'a>>,
    /// The type of q and y.
    pub activation: Activation,
}

impl AttentionDecode<'_> {
    /// Whether the positions are divided or not.
    pub(crate) const LENGTH: Changing = {
        let offset = offset_of!(kernels::DecodeParams, length);
        assert!(offset == offset_of!(kernels::DecodeSplitParams, length));
        Changing { index: 4, offset }
    };
}

/// Positions in parts.
#[derive(Clone, Copy, Debug)]
pub struct AttentionSplit<'a> {
    /// How many parts.
    pub count: usize,
    /// [`AttentionSplit::scratch_bytes`] bytes that nobody else uses meanwhile.
    pub scratch: BufferSlice<'a>,
}

impl AttentionSplit<'_> {
    /// How much room the parts take: head_dim sums, a maximum and a total for each head.
    pub fn scratch_bytes(heads: usize, head_dim: usize, count: usize) -> usize {
        heads.saturating_mul(count).saturating_mul(head_dim.saturating_add(2)).saturating_mul(4)
    }
}

/// Groups of heads that [`attention_decode`] takes at a time: all that share keys and values, if they are not too many.
pub(crate) fn decode_groups(heads: usize, kv_heads: usize, head_dim: usize) -> usize {
    let group = heads / kv_heads.max(1);
    let rows = (1..=most_rows(head_dim).min(group)).rev().find(|rows| group.is_multiple_of(*rows)).unwrap_or(1);
    heads / rows
}

/// Attends to all positions for one token.
///
/// A simdgroup takes all heads that share keys and values, if they are eight at most: 4096 positions, heads of 128, f16, one
/// thread: 21 GB/s with four heads at a time, 17 with two, 12 with one; a copy moves 27.
pub fn attention_decode(encoding: &mut Encoding<'_>, op: AttentionDecode<'_>) -> Result<()> {
    let check = Check { operation: "attention_decode" };
    let checked = Checked::new(&check, &op.cache, &op.shape)?;
    let counts = [op.shape.heads, op.cache.head_dim];
    check.room("q", &op.q, &counts, op.activation.size())?;
    check.room("y", &op.y, &counts, op.activation.size())?;
    if op.length > op.cache.capacity {
        let (length, capacity) = (op.length, op.cache.capacity);
        return check.error(format_args!("length is {length}, but the cache has room for {capacity} positions"));
    }
    let length = check.count("length", op.length)?;
    let groups = decode_groups(op.shape.heads, op.cache.heads, op.cache.head_dim);
    let rows = op.shape.heads / groups;
    let types = (op.activation, op.cache.ty);
    let (q, k, v, capacity) = (op.q, op.cache.keys, op.cache.values, checked.capacity);
    let Some(split) = op.split else {
        let p = &kernels::DecodeParams { length, capacity };
        let arguments = kernels::AttentionDecodeArgs { q, k, v, y: op.y, p };
        let kernel: Kernel<kernels::AttentionDecode> = match types {
            (Activation::F32, Activation::F16) => kernels::ATTENTION_DECODE_F32_KV_F16,
            (Activation::F16, Activation::F16) => kernels::ATTENTION_DECODE_F16_KV_F16,
            (Activation::F32, Activation::F32) => kernels::ATTENTION_DECODE_F32_KV_F32,
            (Activation::F16, Activation::F32) => kernels::ATTENTION_DECODE_F16_KV_F32,
        };
        let Checked { d, group, scale, soft_cap, window, .. } = checked;
        let rows = rows as u32;
        let constants = kernels::AttentionDecodeConstants { d, group, rows, scale, soft_cap, window };
        return encoding.dispatch(kernel, &constants, &arguments, Grid::linear(groups, 1));
    };
    let splits = check.count("split", split.count)?;
    check.room("scratch", &split.scratch, &[op.shape.heads, split.count, op.cache.head_dim + 2], 4)?;
    let p = &kernels::DecodeSplitParams { length, capacity, splits };
    let arguments = kernels::AttentionDecodeSplitArgs { q, k, v, parts: split.scratch, p };
    let kernel: Kernel<kernels::AttentionDecodeSplit> = match types {
        (Activation::F32, Activation::F16) => kernels::ATTENTION_DECODE_SPLIT_F32_KV_F16,
        (Activation::F16, Activation::F16) => kernels::ATTENTION_DECODE_SPLIT_F16_KV_F16,
        (Activation::F32, Activation::F32) => kernels::ATTENTION_DECODE_SPLIT_F32_KV_F32,
        (Activation::F16, Activation::F32) => kernels::ATTENTION_DECODE_SPLIT_F16_KV_F32,
    };
    let Checked { d, group, scale, soft_cap, window, .. } = checked;
    let rows = rows as u32;
    let constants = kernels::AttentionDecodeSplitConstants { d, group, rows, scale, soft_cap, window };
    encoding.dispatch(kernel, &constants, &arguments, Grid::plane(groups, split.count, 1))?;
    let arguments = kernels::AttentionReduceArgs { parts: split.scratch, y: op.y, splits };
    let kernel = match op.activation {
        Activation::F32 => kernels::ATTENTION_REDUCE_F32,
        Activation::F16 => kernels::ATTENTION_REDUCE_F16,
    };
    let constants = kernels::AttentionReduceConstants { d };
    encoding.dispatch(kernel, &constants, &arguments, Grid::linear(op.shape.heads, 1))
}

/// [`attention_prefill`]: many tokens, each of which sees those before it.
#[derive(Clone, Copy, Debug)]
pub struct AttentionPrefill<'a> {
    /// `[tokens, heads, head_dim]` activations.
    pub q: BufferSlice<'a>,
    /// Keys and values, those of the tokens among them.
    pub cache: KvCache<'a>,
    /// `[tokens, heads, head_dim]` activations.
    pub y: BufferSlice<'a>,
    /// How many tokens.
    pub tokens: usize,
    /// Positions in the cache before the first of them.
    pub position: usize,
    /// What it is like.
    pub shape: AttentionShape,
    /// The type of q and y.
    pub activation: Activation,
}

impl AttentionPrefill<'_> {
    pub(crate) const POSITION: Changing =
        Changing { index: 4, offset: offset_of!(kernels::PrefillParams, position) };
}

/// Attends for many tokens.
///
/// A simdgroup takes eight tokens of a head, or four of a long one: 512 tokens, heads of 128 and 64, f16, one thread: 81 and 73 GFLOP/s of a peak of
/// 117; four tokens at a time are a fifth slower.
pub fn attention_prefill(encoding: &mut Encoding<'_>, op: AttentionPrefill<'_>) -> Result<()> {
    let check = Check { operation: "attention_prefill" };
    let checked = Checked::new(&check, &op.cache, &op.shape)?;
    let counts = [op.tokens, op.shape.heads, op.cache.head_dim];
    check.room("q", &op.q, &counts, op.activation.size())?;
    check.room("y", &op.y, &counts, op.activation.size())?;
    if op.position.checked_add(op.tokens).is_none_or(|end| end > op.cache.capacity) {
        let (tokens, position, capacity) = (op.tokens, op.position, op.cache.capacity);
        let what =
            format_args!("{tokens} tokens from {position} on, but the cache has room for {capacity} positions");
        return check.error(what);
    }
    if op.tokens == 0 {
        return Ok(());
    }
    let Checked { d, heads, group, capacity, scale, soft_cap, window } = checked;
    let most_rows = most_rows(op.cache.head_dim);
    let rows = most_rows as u32;
    let constants = kernels::AttentionPrefillConstants { d, heads, group, rows, scale, soft_cap, window };
    let tokens = check.count("tokens", op.tokens)?;
    let p = &kernels::PrefillParams { tokens, position: op.position as u32, capacity };
    let arguments = kernels::AttentionPrefillArgs { q: op.q, k: op.cache.keys, v: op.cache.values, y: op.y, p };
    let kernel: Kernel<kernels::AttentionPrefill> = match (op.activation, op.cache.ty) {
        (Activation::F32, Activation::F16) => kernels::ATTENTION_PREFILL_F32_KV_F16,
        (Activation::F16, Activation::F16) => kernels::ATTENTION_PREFILL_F16_KV_F16,
        (Activation::F32, Activation::F32) => kernels::ATTENTION_PREFILL_F32_KV_F32,
        (Activation::F16, Activation::F32) => kernels::ATTENTION_PREFILL_F16_KV_F32,
    };
    encoding.dispatch(kernel, &constants, &arguments, Grid::plane(op.tokens.div_ceil(most_rows), op.shape.heads, 1))
}

/// What all kernels are told.
struct Checked {
    d: u32,
    heads: u32,
    group: u32,
    capacity: u32,
    scale: f32,
    soft_cap: f32,
    window: u32,
}

impl Checked {
    fn new(check: &Check<'_>, cache: &KvCache<'_>, shape: &AttentionShape) -> Result<Checked> {
        let (kv_heads, capacity) = cache.check(check)?;
        if !(32..=256).contains(&cache.head_dim) {
            return check.error(format_args!("head_dim is {}: it must be 32 to 256", cache.head_dim));
        }
        let heads = check.count("heads", shape.heads)?;
        if !heads.is_multiple_of(kv_heads) {
            return check.error(format_args!("{heads} heads cannot share {kv_heads} of the cache alike"));
        }
        let soft_cap = shape.soft_cap.unwrap_or(0.0);
        if shape.soft_cap.is_some() && !(soft_cap.is_finite() && soft_cap > 0.0) {
            return check.error(format_args!("soft_cap is {soft_cap}: it must be above 0"));
        }
        let window = shape.window.map_or(Ok(0), |window| check.count("window", window))?;
        let group = heads / kv_heads;
        Ok(Checked { d: cache.head_dim as u32, heads, group, capacity, scale: shape.scale, soft_cap, window })
    }
}
