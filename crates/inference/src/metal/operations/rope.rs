//! Rotary positions: `rope.metal`.

use super::kv_cache::KvCache;
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH, UsedBytes};
use crate::metal::kernels::rope as kernels;
use crate::metal::library::BufferSlice;
use crate::operations::{Operation, Variants};
use compute::{Result, Size};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "rope",
        kernels: &["rope"],
        variants: Variants::Activations,
        shape: "M=1 H=heads D=head_dim",
        checks: &["M=3 H=3 D=40", "M=3 H=3 D=40 R=24 X=1"],
        bytes: |c| c.a(2.0 * c.mhd()) + 2.0 * c.d(),
        flops: |c| 3.0 * c.mhd(),
        build: crate::operations::build::position::rope,
    },
    Operation {
        name: "rope_kv",
        kernels: &["rope_kv"],
        variants: Variants::Cache,
        shape: "M=1 L=4096 H=heads G=kv_heads D=head_dim",
        checks: &["M=5 L=45 H=4 G=2 D=40", "M=2 L=45 H=4 G=2 D=40 R=24 X=1"],
        bytes: |c| c.a(2.0 * (c.mhd() + c.mgd())) + c.kv(2.0 * c.mgd()),
        flops: |c| 3.0 * (c.mhd() + c.mgd()),
        build: crate::operations::build::position::rope_kv,
    },
];

/// How heads are rotated.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<'a> {
    /// `[rotary / 2]` f32: what the position is multiplied with; see [`frequencies`].
    pub frequencies: BufferSlice<'a>,
    /// `[tokens]` u32.
    pub positions: BufferSlice<'a>,
    /// Numbers of a head that are rotated: even, at most `head_dim`.
    pub rotary: usize,
    /// The pairs are (i, i + rotary/2) rather than (2i, 2i + 1).
    pub neox: bool,
    /// What sines and cosines are multiplied with: 1, but for schemes that say otherwise.
    pub magnitude: f32,
}

/// `base^(−2i/rotary) / factor[i]` for each pair. `factors` come with some models; without them they are 1.
pub fn frequencies(base: f64, rotary: usize, factors: Option<&[f32]>) -> Vec<f32> {
    let factor = |i: usize| factors.and_then(|factors| factors.get(i)).map_or(1.0, |&factor| f64::from(factor));
    (0..rotary / 2).map(|i| (base.powf(-2.0 * i as f64 / rotary as f64) / factor(i)) as f32).collect()
}

/// [`rope`]: rotates the heads of each token.
#[derive(Clone, Copy, Debug)]
pub struct Rope<'a> {
    /// `[tokens, stride]` activations, of which the first `heads · head_dim` of a row are the heads.
    pub x: BufferSlice<'a>,
    /// `[tokens, heads, head_dim]` activations; may be `x` where that is one row, or
    /// `stride` is `heads · head_dim`.
    pub y: BufferSlice<'a>,
    /// How they are rotated.
    pub rotation: Rotation<'a>,
    /// How many tokens.
    pub tokens: usize,
    /// Heads of a token.
    pub heads: usize,
    /// Numbers in a head: even.
    pub head_dim: usize,
    /// Numbers from one row of x to the next.
    pub stride: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// Rotates heads by their positions.
pub fn rope(encoding: &mut Encoding<'_>, op: Rope<'_>) -> Result<()> {
    let kernel = kernels::Rope::select(op.activation);
    let check = Check::new("rope", kernel.info());
    let (head_dim, rotary) = check_rotation(&check, &op.rotation, op.tokens, op.head_dim)?;
    let (heads, x_stride) = (check.count("heads", op.heads)?, check.count("stride", op.stride)?);
    let width = op.heads.saturating_mul(op.head_dim);
    let x = check.rows("x", &op.x, op.tokens, op.stride, width)?;
    let y = check.room("y", &op.y, &[op.tokens, width])?;
    check_in_place(&check, &y, &x, op.stride == width || op.tokens == 1)?;
    if op.tokens == 0 {
        return Ok(());
    }
    let (rotation, splits) = (op.rotation, encoding.tuning.head_splits(op.tokens, op.heads));
    let params = kernels::RopeParams { heads, x_stride, splits: splits as u32, magnitude: rotation.magnitude };
    let constants = kernels::RopeConstants { head_dim, rotary, neox: rotation.neox };
    let arguments = kernels::RopeArgs {
        x: op.x,
        y: op.y,
        positions: rotation.positions,
        frequencies: rotation.frequencies,
        p: &params,
    };
    encoding.dispatch(kernel, &constants, &arguments, grid(op.head_dim, op.tokens, splits))
}

/// [`rope_kv`]: rotates q and k, and stores k and v.
#[derive(Clone, Copy, Debug)]
pub struct RopeKv<'a> {
    /// `[tokens, q_stride]` activations: `heads` heads of each token.
    pub q: BufferSlice<'a>,
    /// `[tokens, k_stride]` activations: the keys of each token, of as many heads as the cache has.
    pub k: BufferSlice<'a>,
    /// `[tokens, v_stride]` activations: the values.
    pub v: BufferSlice<'a>,
    /// `[tokens, heads, head_dim]` activations: q, rotated; may be `q` where that is one row, or
    /// its stride is `heads · head_dim`.
    pub y: BufferSlice<'a>,
    /// Where keys and values go, at the positions of the rotation.
    pub cache: KvCache<'a>,
    /// How q and k are rotated.
    pub rotation: Rotation<'a>,
    /// How many tokens.
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

/// Rotates queries and keys by their positions, and puts keys and values into the cache.
pub fn rope_kv(encoding: &mut Encoding<'_>, op: RopeKv<'_>) -> Result<()> {
    let kernel = kernels::RopeKv::select(op.activation, op.cache.ty);
    let check = Check::new("rope_kv", kernel.info());
    let (cache, rotation) = (op.cache, op.rotation);
    let (head_dim, rotary) = check_rotation(&check, &rotation, op.tokens, cache.head_dim)?;
    let (kv_heads, capacity) = cache.check(&check)?;
    let heads = check.count("heads", op.heads)?;
    let width = op.heads.saturating_mul(cache.head_dim);
    let kv_width = cache.heads * cache.head_dim;
    let q = check.rows("q", &op.q, op.tokens, op.q_stride, width)?;
    let k = check.rows("k", &op.k, op.tokens, op.k_stride, kv_width)?;
    let v = check.rows("v", &op.v, op.tokens, op.v_stride, kv_width)?;
    let y = check.room("y", &op.y, &[op.tokens, width])?;
    check_in_place(&check, &y, &q, op.q_stride == width || op.tokens == 1)?;
    check.apart(&y, &k)?;
    check.apart(&y, &v)?;
    if op.tokens == 0 {
        return Ok(());
    }
    let splits = encoding.tuning.head_splits(op.tokens, op.heads);
    let params = kernels::RopeKvParams {
        heads,
        kv_heads,
        q_stride: check.count("q_stride", op.q_stride)?,
        k_stride: check.count("k_stride", op.k_stride)?,
        v_stride: check.count("v_stride", op.v_stride)?,
        capacity,
        splits: splits as u32,
        magnitude: rotation.magnitude,
    };
    let constants = kernels::RopeKvConstants { head_dim, rotary, neox: rotation.neox };
    let arguments = kernels::RopeKvArgs {
        q: op.q,
        k: op.k,
        v: op.v,
        y: op.y,
        keys: cache.keys,
        values: cache.values,
        positions: rotation.positions,
        frequencies: rotation.frequencies,
        p: &params,
    };
    encoding.dispatch(kernel, &constants, &arguments, grid(cache.head_dim, op.tokens, splits))
}

/// `head_dim` and `rotary`, if they go together.
fn check_rotation(
    check: &Check<'_>,
    rotation: &Rotation<'_>,
    tokens: usize,
    head_dim: usize,
) -> Result<(u32, u32)> {
    let (size, rotary) = (check.count("head_dim", head_dim)?, check.count("rotary", rotation.rotary)?);
    if !size.is_multiple_of(2) || !rotary.is_multiple_of(2) || rotary > size {
        return check.error(format_args!(
            "{rotary} of {size} numbers of a head are to be rotated: both must be even, and the first not larger"
        ));
    }
    check.room("frequencies", &rotation.frequencies, &[rotation.rotary / 2])?;
    check.room("positions", &rotation.positions, &[tokens])?;
    Ok((size, rotary))
}

/// Rows that are further apart than those of the output cannot be rotated where they are.
fn check_in_place(check: &Check<'_>, y: &UsedBytes<'_>, x: &UsedBytes<'_>, same_rows: bool) -> Result<()> {
    if same_rows { check.in_place_or_apart(y, x) } else { check.apart(y, x) }
}

/// A lane has two numbers of a head.
fn grid(head_dim: usize, tokens: usize, splits: usize) -> DispatchGrid {
    DispatchGrid { threadgroups: Size::new(head_dim.div_ceil(2 * SIMD_WIDTH), tokens, splits), simdgroups: 1 }
}
