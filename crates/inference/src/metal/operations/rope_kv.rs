//! Rotary position embeddings, and the store to the KV cache: `rope_kv` of `rope.metal`.

use super::kv_cache::{CacheRows, KvCache, changed, stored};
use super::rope::{Rotation, RotationCase, check_in_place, check_rotation, grid};
use crate::cases::{Built, Cache, Case, Maker, Operation, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, Encoding, PatchedParameter};
use crate::metal::kernels::rope as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[Operation {
    name: "rope_kv",
    kernels: &["rope_kv"],
    variants: Variants::Cache,
    shape: "M=1 L=4096 H=heads G=kv_heads D=head_dim",
    checks: &["M=5 L=45 H=4 G=2 D=40", "M=2 L=45 H=4 G=2 D=40 R=24 X=1", "M=37 L=77 H=4 G=2 D=40"],
    bytes: |c| c.a(2.0 * (c.mhd() + c.mgd())) + c.kv(2.0 * c.mgd()),
    flops: |c| 3.0 * (c.mhd() + c.mgd()),
    build,
}];

/// [`rope_kv`]: rotates q and k, and stores k and v.
#[derive(Clone, Copy, Debug)]
pub struct RopeKv<'a> {
    /// `[tokens, q_stride]` activations: `heads` heads of each token.
    pub q: BufferSlice<'a>,
    /// `[tokens, k_stride]` activations: the keys of each token, for all heads of the cache.
    pub k: BufferSlice<'a>,
    /// `[tokens, v_stride]` activations: the values of each token.
    pub v: BufferSlice<'a>,
    /// `[tokens, heads, head_dim]` activations: q, rotated; may be `q` if that is one row, or if its stride is `heads ·
    /// head_dim`.
    pub y: BufferSlice<'a>,
    /// Destination of keys and values, at the positions of the rotation.
    pub cache: KvCache<'a>,
    /// Rotation of q and k.
    pub rotation: Rotation<'a>,
    /// Number of tokens.
    pub tokens: usize,
    /// Heads of q.
    pub heads: usize,
    /// Numbers from one row of q to the next.
    pub q_stride: usize,
    /// Numbers from one row of k to the next.
    pub k_stride: usize,
    /// Numbers from one row of v to the next.
    pub v_stride: usize,
    /// The type of q, k, v and y.
    pub activation: Activation,
}

impl RopeKv<'_> {
    pub(crate) const SEQUENCE: PatchedParameter = {
        assert!(kernels::RopeKvArgs::P_INDEX == kernels::RopeKvBlocksArgs::P_INDEX);
        PatchedParameter {
            index: kernels::RopeKvArgs::P_INDEX,
            offset: offset_of!(kernels::RopeKvParams, sequence),
        }
    };
}

/// Rotates queries and keys by their positions, and stores keys and values in the cache.
pub fn rope_kv(encoding: &mut Encoding<'_>, op: RopeKv<'_>) -> Result<()> {
    let kernel = kernels::RopeKv::select(op.activation, op.cache.ty);
    let blocks = kernels::RopeKvBlocks::select(op.activation, op.cache.ty);
    let Some(info) = kernel.map(|kernel| kernel.info()).or(blocks.map(|kernel| kernel.info())) else {
        return Err(compute::Error::Internal(format!("no kernel stores keys in {}", op.cache.ty)));
    };
    let check = Check::new("rope_kv", info);
    let (cache, rotation) = (op.cache, op.rotation);
    let (head_dim, rotary) = check_rotation(&check, &rotation, op.tokens, cache.head_dim)?;
    let (kv_heads, capacity) = cache.check(&check)?;
    if blocks.is_some() && cache.head_dim > kernels::MAX_BLOCKS_HEAD {
        let (head_dim, most) = (cache.head_dim, kernels::MAX_BLOCKS_HEAD);
        return check.error(format_args!("head_dim is {head_dim}: it must be at most {most} for {}", cache.ty));
    }
    let sequences = match cache.rows {
        CacheRows::Sequence(_) => None,
        CacheRows::Each { count, sequences, .. } if count == op.tokens => Some(sequences),
        CacheRows::Each { count, .. } => {
            let tokens = op.tokens;
            return check.error(format_args!("{tokens} tokens, but {count} rows of the cache"));
        }
    };
    let row_sequences = sequences.is_some();
    let heads = check.count("heads", op.heads)?;
    let width = op.heads.saturating_mul(cache.head_dim);
    let kv_width = cache.heads * cache.head_dim;
    let q = check.rows("q", &op.q, op.tokens, op.q_stride, width)?;
    let k = check.rows("k", &op.k, op.tokens, op.k_stride, kv_width)?;
    let v = check.rows("v", &op.v, op.tokens, op.v_stride, kv_width)?;
    let y = check.room("y", &op.y, &[op.tokens, width])?;
    check_in_place(&check, &y, &q, op.q_stride == width || op.tokens == 1)?;
    check.no_overlap(&y, &k)?;
    check.no_overlap(&y, &v)?;
    if op.tokens == 0 {
        return Ok(());
    }
    let together = encoding.tuning.tokens_together(op.tokens);
    let splits = encoding.tuning.cache_splits(op.tokens, op.heads, cache.heads);
    let params = kernels::RopeKvParams {
        heads,
        kv_heads,
        q_stride: check.count("q_stride", op.q_stride)?,
        k_stride: check.count("k_stride", op.k_stride)?,
        v_stride: check.count("v_stride", op.v_stride)?,
        capacity,
        limit: cache.limit(capacity),
        sequence: cache.sequence(),
        splits: splits as u32,
        tokens: check.count("tokens", op.tokens)?,
        together: together as u32,
        magnitude: rotation.magnitude,
    };
    let (neox, tokens) = (rotation.neox, op.tokens.div_ceil(together));
    let (q, k, v, y, keys, values) = (op.q, op.k, op.v, op.y, cache.keys, cache.values);
    let (positions, frequencies, p) = (rotation.positions, rotation.frequencies, &params);
    let sizes = [('M', op.tokens), ('H', op.heads), ('G', cache.heads), ('D', cache.head_dim)];
    encoding.describe(&OPERATIONS[0], (op.activation, cache.ty), &sizes);
    if let Some(kernel) = blocks {
        let arguments =
            kernels::RopeKvBlocksArgs { q, k, v, y, keys, values, positions, frequencies, p, sequences };
        let constants = kernels::RopeKvBlocksConstants { head_dim, rotary, neox, row_sequences };
        // A simdgroup takes whole heads.
        return encoding.dispatch(kernel, &constants, &arguments, grid(1, tokens, splits));
    }
    let Some(kernel) = kernel else { return Ok(()) };
    let arguments = kernels::RopeKvArgs { q, k, v, y, keys, values, positions, frequencies, p, sequences };
    let constants = kernels::RopeKvConstants { head_dim, rotary, neox, row_sequences };
    encoding.dispatch(kernel, &constants, &arguments, grid(cache.head_dim, tokens, splits))
}

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let (length, kv_heads) = (case.shape['L'], case.shape['G']);
    let kv_width = kv_heads.saturating_mul(head_dim);
    let q_stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let (k_stride, v_stride) = (maker.stride(kv_width, 1), maker.stride(kv_width, 2));
    let rows = |stride| maker.activations(&[tokens, stride], activation);
    let (q, k, v) = (rows(q_stride)?, rows(k_stride)?, rows(v_stride)?);
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let cache = maker.cache(kv_heads, head_dim, length, case.cache)?;
    let (keys, values) = changed(maker, &cache, case);
    let table = RotationCase::new(maker, case, tokens, length)?;
    maker.expect(&y, || table.rotated(&q.numbers(), q_stride, heads * head_dim, head_dim));
    maker.expect(&keys, || {
        let rotated = table.rotated(&k.numbers(), k_stride, kv_width, head_dim);
        stored(&cache, (&cache.keys, Cache::key_index), &rotated, kv_width, &table.positions)
    });
    maker.expect(&values, || {
        stored(&cache, (&cache.values, Cache::value_index), &v.numbers(), v_stride, &table.positions)
    });
    Ok(Box::new(move |encoding| {
        let op = RopeKv {
            q: all(&q),
            k: all(&k),
            v: all(&v),
            y: y.slice(),
            cache: cache.cache(),
            rotation: table.rotation(),
            tokens,
            heads,
            q_stride,
            k_stride,
            v_stride,
            activation,
        };
        rope_kv(encoding, op)
    }))
}
