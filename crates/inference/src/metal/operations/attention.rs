//! Attention over the KV cache: `attention.metal`.

use super::gemv::either;
use super::kv_cache::{CacheRows, KvCache};
use super::pack::{PACKED_BYTES, PACKED_NUMBERS};
use crate::cases::{Array, Built, Cache, Case, Maker, Operation, Problem, Variants, all, formulas};
use crate::formats::{Activation, CacheType};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, PatchedParameter, SIMD_WIDTH};
use crate::metal::kernels::attention as kernels;
use crate::metal::library::BufferSlice;
use compute::{Result, Size};
use std::mem::offset_of;

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "attention_decode",
        kernels: &["attention_decode"],
        variants: Variants::Attention,
        shape: "L=4096 H=heads G=kv_heads D=head_dim",
        checks: &["L=45 H=6 G=2 D=40", "L=70 H=2 G=2 D=64 W=50 T=3"],
        bytes: |c| c.kv(2.0 * c.lgd()) + c.a(2.0 * c.h() * c.d()),
        flops: |c| c.scores() * c.l(),
        build: build_decode,
    },
    Operation {
        name: "attention_decode_split",
        kernels: &["attention_decode_split", "attention_reduce"],
        variants: Variants::Attention,
        shape: "L=4096 H=heads G=kv_heads D=head_dim S=8",
        checks: &["L=45 H=6 G=2 D=40 S=3", "L=70 H=2 G=2 D=64 S=2 W=50 T=3"],
        bytes: |c| c.kv(2.0 * c.lgd()) + c.a(2.0 * c.h() * c.d()),
        flops: |c| c.scores() * c.l(),
        build: build_decode_split,
    },
    Operation {
        name: "attention_decode_wide",
        kernels: &["attention_decode_wide", "attention_reduce"],
        variants: Variants::PlainCache,
        shape: "L=4096 H=heads G=kv_heads D=head_dim S=8",
        checks: &["L=145 H=6 G=2 D=64 S=3", "L=70 H=8 G=1 D=64 S=2 W=50 T=3"],
        bytes: |c| c.kv(2.0 * c.lgd()) + c.a(2.0 * c.h() * c.d()),
        flops: |c| c.scores() * c.l(),
        build: build_decode_wide,
    },
    Operation {
        name: "attention_prefill",
        kernels: &["attention_prefill"],
        variants: Variants::Attention,
        shape: "M=512 P=0 H=heads G=kv_heads D=head_dim",
        checks: &["M=11 P=5 H=4 G=2 D=40", "M=9 P=30 H=2 G=1 D=64 W=20 T=3"],
        bytes: |c| c.kv(2.0 * (c.p() + c.m()) * c.g() * c.d()) + c.a(2.0 * c.mhd()),
        flops: |c| c.scores() * c.seen(),
        build: build_prefill,
    },
];

/// Maximum number of queries of `head_dim` numbers per simdgroup.
fn most_queries(head_dim: usize) -> usize {
    (kernels::MAX_QUERY_NUMBERS / head_dim.max(1)).clamp(1, kernels::MAX_QUERIES)
}

/// Number of queries per simdgroup in prefill: as many as possible, as long as there are enough simdgroups.
fn prefill_queries(encoding: &Encoding<'_>, tokens: usize, heads: usize, head_dim: usize) -> usize {
    let mut queries = most_queries(head_dim);
    while queries > 1 && tokens.div_ceil(queries).saturating_mul(heads) < encoding.tuning.simdgroups {
        queries /= 2;
    }
    queries
}

/// Number of keys or values that a lane loads together.
fn loads_together(encoding: &Encoding<'_>, head_dim: usize) -> u32 {
    let most = encoding.tuning.attention.together.clamp(1, kernels::MAX_TOGETHER);
    (1..=most).rev().find(|count| head_dim.is_multiple_of(*count)).unwrap_or(1) as u32
}

/// Parameters of attention that a model fixes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AttentionShape {
    /// Query heads: a multiple of the cache's heads.
    pub heads: usize,
    /// Factor of the scores q · k, usually 1 / √head_dim.
    pub scale: f32,
    /// Scores s become cap · tanh(s / cap).
    pub soft_cap: Option<f32>,
    /// Number of positions that a token sees, itself included; without a window it sees all up to its own.
    pub window: Option<usize>,
}

/// [`attention_decode`]: attention of one token, or of one of each sequence ([`CacheRows::Each`]).
#[derive(Clone, Copy, Debug)]
pub struct AttentionDecode<'a> {
    /// `[rows, heads, head_dim]` activations.
    pub q: BufferSlice<'a>,
    /// Keys and values, those of the token included.
    pub cache: KvCache<'a>,
    /// `[rows, heads, head_dim]` activations, or packed.
    pub y: BufferSlice<'a>,
    /// Positions in the cache, the token's own included: at least 1. Rows of several sequences have their own.
    pub length: usize,
    /// Heads, scale, cap and window.
    pub shape: AttentionShape,
    /// `[heads]` f32: one more score of each head, which has no value.
    pub sinks: Option<BufferSlice<'a>>,
    /// Splits the positions between threadgroups: for long caches or few heads, which would leave cores idle.
    pub split: Option<AttentionSplit<'a>>,
    /// The type of q and y.
    pub activation: Activation,
    /// Packs y: with a split, and heads of whole blocks ([`AttentionDecode::can_pack`]).
    pub packed_y: bool,
}

impl AttentionDecode<'_> {
    /// True if heads of this size can be packed.
    pub const fn can_pack(head_dim: usize) -> bool {
        head_dim.is_multiple_of(PACKED_NUMBERS)
    }

    /// The same parameter with and without a split.
    pub(crate) const LENGTH: PatchedParameter = {
        let offset = offset_of!(kernels::DecodeParams, length);
        assert!(offset == offset_of!(kernels::DecodeSplitParams, length));
        assert!(kernels::AttentionDecodeArgs::P_INDEX == kernels::AttentionDecodeSplitArgs::P_INDEX);
        assert!(kernels::AttentionDecodeArgs::P_INDEX == kernels::AttentionDecodeWideArgs::P_INDEX);
        PatchedParameter { index: kernels::AttentionDecodeArgs::P_INDEX, offset }
    };

    pub(crate) const SEQUENCE: PatchedParameter = {
        let offset = offset_of!(kernels::DecodeParams, sequence);
        assert!(offset == offset_of!(kernels::DecodeSplitParams, sequence));
        PatchedParameter { offset, ..AttentionDecode::LENGTH }
    };
}

/// Positions split into parts.
#[derive(Clone, Copy, Debug)]
pub struct AttentionSplit<'a> {
    /// Number of parts.
    pub count: usize,
    /// [`AttentionSplit::scratch_bytes`] bytes that nothing else uses during the dispatch.
    pub scratch: BufferSlice<'a>,
    /// Simdgroups that share a part, with loads of 16 bytes ([`AttentionSplit::is_wide`]). Otherwise a part has one.
    pub wide: Option<usize>,
}

impl AttentionSplit<'_> {
    /// Bytes of scratch memory for `count` parts: head_dim sums, a maximum and a total for each head and part. Rows of
    /// several sequences need it for each of them.
    pub fn scratch_bytes(heads: usize, head_dim: usize, count: usize) -> usize {
        heads.saturating_mul(count).saturating_mul(head_dim.saturating_add(2)).saturating_mul(4)
    }
}

impl AttentionSplit<'_> {
    /// Maximum number of simdgroups that share a part.
    pub const MAX_SIMDGROUPS: usize = kernels::MAX_WIDE_SIMDGROUPS;

    /// True if heads of `head_dim` numbers can be loaded 16 bytes at a time.
    pub fn is_wide(head_dim: usize, ty: CacheType) -> bool {
        let bytes = ty.plain().map_or(0, |plain| head_dim.saturating_mul(plain.size()));
        bytes.is_power_of_two() && (128..=512).contains(&bytes)
    }
}

/// Number of groups that [`attention_decode`] divides the heads into. A group is all heads that share keys and values,
/// or an equal part of them where they are too many for one simdgroup.
pub(crate) fn decode_groups(heads: usize, kv_heads: usize, head_dim: usize) -> usize {
    let group = heads / kv_heads.max(1);
    let fits = |queries: &usize| group.is_multiple_of(*queries);
    heads / (1..=most_queries(head_dim).min(group)).rev().find(fits).unwrap_or(1)
}

/// Attends to all positions for one token.
///
/// A simdgroup takes all heads that share keys and values, at most eight. With 4096 positions, heads of 128, f16, one
/// thread: 21 GB/s with four heads at a time, 17 with two, 12 with one; a copy moves 27.
pub fn attention_decode(encoding: &mut Encoding<'_>, op: AttentionDecode<'_>) -> Result<()> {
    let kernel = kernels::AttentionDecode::select(op.activation, op.cache.ty);
    let check = Check::new("attention_decode", kernel.info());
    let checked = Checked::new(&check, &op.cache, &op.shape)?;
    let (rows, positions, sequences) = match op.cache.rows {
        CacheRows::Sequence(_) => (1, None, None),
        CacheRows::Each { count, positions, sequences } => (count, Some(positions), Some(sequences)),
    };
    let row_sequences = positions.is_some();
    let counts = [rows, op.shape.heads, op.cache.head_dim];
    check.room("q", &op.q, &counts)?;
    if op.packed_y {
        let (blocks, head_dim) = (op.cache.head_dim / PACKED_NUMBERS, op.cache.head_dim);
        if op.split.is_none() || !AttentionDecode::can_pack(head_dim) {
            return check
                .error(format_args!("heads of {head_dim} numbers are packed in blocks of 32, with a split"));
        }
        check.elements("packed_y", &op.y, &[rows, op.shape.heads, blocks], PACKED_BYTES)?;
    } else {
        check.room("y", &op.y, &counts)?;
    }
    if op.length > op.cache.capacity && !op.cache.is_ring {
        let (length, capacity) = (op.length, op.cache.capacity);
        return check.error(format_args!("length is {length}, but the cache has room for {capacity} positions"));
    }
    check_ring(&check, &op.cache, &op.shape, 1)?;
    check_sinks(&check, op.sinks.as_ref(), &op.shape)?;
    let length = check.count("length", op.length)?;
    if rows == 0 {
        return Ok(());
    }
    let groups = decode_groups(op.shape.heads, op.cache.heads, op.cache.head_dim);
    let queries = (op.shape.heads / groups) as u32;
    let together = loads_together(encoding, op.cache.head_dim);
    let (q, keys, values, capacity) = (op.q, op.cache.keys, op.cache.values, checked.capacity);
    let sequence = op.cache.sequence();
    let sizes = [('L', op.length * rows), ('H', op.shape.heads), ('G', op.cache.heads), ('D', op.cache.head_dim)];
    let Some(split) = op.split else {
        let p = &kernels::DecodeParams { length, capacity, sequence };
        let arguments =
            kernels::AttentionDecodeArgs { q, keys, values, y: op.y, p, positions, sequences, sinks: op.sinks };
        let Checked { head_dim, heads, group, scale, soft_cap, window, .. } = checked;
        let constants = kernels::AttentionDecodeConstants {
            head_dim,
            heads,
            group,
            queries,
            scale,
            soft_cap,
            window,
            together,
            row_sequences,
            sinks: op.sinks.is_some(),
        };
        encoding.describe(&OPERATIONS[0], (op.activation, op.cache.ty), &sizes);
        return encoding.dispatch(kernel, &constants, &arguments, DispatchGrid::plane(groups, rows, 1));
    };
    let splits = check.count("split", split.count)?;
    check.elements("scratch", &split.scratch, &[rows, op.shape.heads, split.count, op.cache.head_dim + 2], 4)?;
    let p = &kernels::DecodeSplitParams { length, capacity, sequence, splits };
    let parts = split.scratch;
    let Checked { head_dim, heads, group, scale, soft_cap, window, .. } = checked;
    if let Some(simdgroups) = split.wide {
        check_wide(&check, &op.cache, simdgroups)?;
        let queries = wide_queries(group as usize, op.cache.head_dim);
        let constants = kernels::AttentionDecodeWideConstants {
            simdgroups: simdgroups as u32,
            head_dim,
            heads,
            group,
            queries: queries as u32,
            scale,
            soft_cap,
            window,
            row_sequences,
        };
        let Some(kernel) = kernels::AttentionDecodeWide::select(op.activation, op.cache.ty) else {
            return Err(compute::Error::Internal(format!("no kernel has wide loads of {}", op.cache.ty)));
        };
        let arguments = kernels::AttentionDecodeWideArgs { q, keys, values, parts, p, positions, sequences };
        let threadgroups = Size::new(op.shape.heads / queries, split.count, rows);
        let grid = DispatchGrid { threadgroups, simdgroups };
        encoding.describe(&OPERATIONS[2], (op.activation, op.cache.ty), &sizes);
        encoding.dispatch(kernel, &constants, &arguments, grid)?;
    } else {
        let kernel = kernels::AttentionDecodeSplit::select(op.activation, op.cache.ty);
        let arguments = kernels::AttentionDecodeSplitArgs { q, keys, values, parts, p, positions, sequences };
        let constants = kernels::AttentionDecodeSplitConstants {
            head_dim,
            heads,
            group,
            queries,
            scale,
            soft_cap,
            window,
            together,
            row_sequences,
        };
        encoding.describe(&OPERATIONS[1], (op.activation, op.cache.ty), &sizes);
        let threadgroups = Size::new(groups, split.count, rows);
        encoding.dispatch(kernel, &constants, &arguments, DispatchGrid { threadgroups, simdgroups: 1 })?;
    }
    let kernel = kernels::AttentionReduce::select(op.activation);
    let [y, packed_y] = either(op.y, op.packed_y);
    let arguments = kernels::AttentionReduceArgs { parts: split.scratch, y, splits, packed_y, sinks: op.sinks };
    let constants =
        kernels::AttentionReduceConstants { head_dim, heads, packed_y: op.packed_y, sinks: op.sinks.is_some() };
    let grid = DispatchGrid::plane(op.cache.head_dim.div_ceil(SIMD_WIDTH), rows * op.shape.heads, 1);
    encoding.dispatch(kernel, &constants, &arguments, grid)
}

/// Queries that a simdgroup of `attention_decode_wide` takes, of `group` that share keys and values.
fn wide_queries(group: usize, head_dim: usize) -> usize {
    let most = (kernels::MAX_WIDE_NUMBERS / head_dim.max(1)).clamp(1, kernels::MAX_WIDE_QUERIES);
    (1..=most.min(group)).rev().find(|queries| group.is_multiple_of(*queries)).unwrap_or(1)
}

fn check_wide(check: &Check<'_>, cache: &KvCache<'_>, simdgroups: usize) -> Result<()> {
    const MOST: usize = AttentionSplit::MAX_SIMDGROUPS;
    if !(1..=MOST).contains(&simdgroups) {
        return check.error(format_args!("{simdgroups} simdgroups: they must be 1 to {MOST}"));
    }
    if !AttentionSplit::is_wide(cache.head_dim, cache.ty) {
        let (head_dim, ty) = (cache.head_dim, cache.ty);
        return check
            .error(format_args!("heads of {head_dim} numbers of {ty} cannot be loaded 16 bytes at a time"));
    }
    for (name, slice) in [("keys", &cache.keys), ("values", &cache.values)] {
        if !slice.offset().is_multiple_of(16) {
            let offset = slice.offset();
            return check
                .error(format_args!("{name} begin at byte {offset} of their buffer: a multiple of 16 is needed"));
        }
    }
    Ok(())
}

/// [`attention_prefill`]: causal attention of many tokens.
#[derive(Clone, Copy, Debug)]
pub struct AttentionPrefill<'a> {
    /// `[tokens, heads, head_dim]` activations.
    pub q: BufferSlice<'a>,
    /// Keys and values, those of the tokens included.
    pub cache: KvCache<'a>,
    /// `[tokens, heads, head_dim]` activations.
    pub y: BufferSlice<'a>,
    /// Number of tokens.
    pub tokens: usize,
    /// Positions in the cache before the first token.
    pub position: usize,
    /// Heads, scale, cap and window.
    pub shape: AttentionShape,
    /// `[heads]` f32: one more score of each head, which has no value.
    pub sinks: Option<BufferSlice<'a>>,
    /// The type of q and y.
    pub activation: Activation,
}

impl AttentionPrefill<'_> {
    pub(crate) const POSITION: PatchedParameter = PatchedParameter {
        index: kernels::AttentionPrefillArgs::P_INDEX,
        offset: offset_of!(kernels::PrefillParams, position),
    };
    pub(crate) const SEQUENCE: PatchedParameter =
        PatchedParameter { offset: offset_of!(kernels::PrefillParams, sequence), ..AttentionPrefill::POSITION };
}

/// Attends for many tokens, each of which sees the positions up to its own.
///
/// A simdgroup takes eight tokens of a head, or four of a long head. With 512 tokens, heads of 128 and 64, f16, one
/// thread: 81 and 73 GFLOP/s of a peak of 117; four tokens at a time are a fifth slower.
pub fn attention_prefill(encoding: &mut Encoding<'_>, op: AttentionPrefill<'_>) -> Result<()> {
    let kernel = kernels::AttentionPrefill::select(op.activation, op.cache.ty);
    let check = Check::new("attention_prefill", kernel.info());
    let checked = Checked::new(&check, &op.cache, &op.shape)?;
    let counts = [op.tokens, op.shape.heads, op.cache.head_dim];
    check.room("q", &op.q, &counts)?;
    check.room("y", &op.y, &counts)?;
    op.cache.check_one_sequence(&check)?;
    check_ring(&check, &op.cache, &op.shape, op.tokens)?;
    check_sinks(&check, op.sinks.as_ref(), &op.shape)?;
    let end = op.position.checked_add(op.tokens);
    if end.is_none_or(|end| end > op.cache.capacity && !op.cache.is_ring) {
        let (tokens, position, capacity) = (op.tokens, op.position, op.cache.capacity);
        let what =
            format_args!("{tokens} tokens from {position} on, but the cache has room for {capacity} positions");
        return check.error(what);
    }
    if op.tokens == 0 {
        return Ok(());
    }
    let Checked { head_dim, heads, group, capacity, scale, soft_cap, window } = checked;
    let most_queries = prefill_queries(encoding, op.tokens, op.shape.heads, op.cache.head_dim);
    let (queries, together) = (most_queries as u32, loads_together(encoding, op.cache.head_dim));
    let constants = kernels::AttentionPrefillConstants {
        head_dim,
        heads,
        group,
        queries,
        scale,
        soft_cap,
        window,
        together,
        sinks: op.sinks.is_some(),
    };
    let tokens = check.count("tokens", op.tokens)?;
    let p =
        &kernels::PrefillParams { tokens, position: op.position as u32, capacity, sequence: op.cache.sequence() };
    let arguments = kernels::AttentionPrefillArgs {
        q: op.q,
        keys: op.cache.keys,
        values: op.cache.values,
        y: op.y,
        p,
        sinks: op.sinks,
    };
    let (tokens, position, heads) = (op.tokens, op.position, op.shape.heads);
    let sizes = [('M', tokens), ('P', position), ('H', heads), ('G', op.cache.heads), ('D', op.cache.head_dim)];
    encoding.describe(&OPERATIONS[3], (op.activation, op.cache.ty), &sizes);
    encoding.dispatch(
        kernel,
        &constants,
        &arguments,
        DispatchGrid::plane(op.tokens.div_ceil(most_queries), op.shape.heads, 1),
    )
}

fn check_sinks(check: &Check<'_>, sinks: Option<&BufferSlice<'_>>, shape: &AttentionShape) -> Result<()> {
    match sinks {
        Some(sinks) => check.elements("sinks", sinks, &[shape.heads], 4).map(drop),
        None => Ok(()),
    }
}

/// Checks that a ring has room for the window of the first of `tokens` tokens, and for all of them.
fn check_ring(check: &Check<'_>, cache: &KvCache<'_>, shape: &AttentionShape, tokens: usize) -> Result<()> {
    let needed = shape.window.map(|window| window.saturating_add(tokens).saturating_sub(1));
    match needed {
        _ if !cache.is_ring => Ok(()),
        None => check.error("the cache is a ring, but attention has no window"),
        Some(needed) if needed > cache.capacity => {
            let capacity = cache.capacity;
            check.error(format_args!("the ring has room for {capacity} positions, but {needed} are needed"))
        }
        Some(_) => Ok(()),
    }
}

/// Checked parameters that all kernels take.
struct Checked {
    head_dim: u32,
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
        if !(kernels::MIN_HEAD_DIM..=kernels::MAX_HEAD_DIM).contains(&cache.head_dim) {
            let (head_dim, least, most) = (cache.head_dim, kernels::MIN_HEAD_DIM, kernels::MAX_HEAD_DIM);
            return check.error(format_args!("head_dim is {head_dim}: it must be {least} to {most}"));
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
        Ok(Checked {
            head_dim: cache.head_dim as u32,
            heads,
            group,
            capacity,
            scale: shape.scale,
            soft_cap,
            window,
        })
    }
}

fn build_decode(maker: &Maker<'_>, case: &Case) -> Built {
    build_decode_in_parts(maker, case, None, None)
}

fn build_decode_split(maker: &Maker<'_>, case: &Case) -> Built {
    build_decode_in_parts(maker, case, Some(case.shape['S']), None)
}

fn build_decode_wide(maker: &Maker<'_>, case: &Case) -> Built {
    build_decode_in_parts(maker, case, Some(case.shape['S']), Some(AttentionSplit::MAX_SIMDGROUPS))
}

fn build_decode_in_parts(maker: &Maker<'_>, case: &Case, parts: Option<usize>, wide: Option<usize>) -> Built {
    let (length, heads, head_dim, activation) =
        (case.shape['L'], case.shape['H'], case.shape['D'], case.activation);
    let shape = attention_shape(case);
    let cache = maker.cache(case.shape['G'], head_dim, length, case.cache)?;
    let q = maker.activations(&[heads, head_dim], activation)?;
    let y = maker.output("y", &[heads, head_dim], activation.into())?;
    let sinks = sinks(maker, case)?;
    maker.expect(&y, || attend(&q.numbers(), &cache, length - 1, &shape, sinks.as_ref()));
    let scratch = AttentionSplit::scratch_bytes(heads, head_dim, parts.unwrap_or(0));
    let scratch = maker.zeros(&[scratch], 1)?;
    Ok(Box::new(move |encoding| {
        let split = parts.map(|count| AttentionSplit { count, scratch: all(&scratch), wide });
        let (q, cache, y, sinks) = (all(&q), cache.cache(), y.slice(), sinks.as_ref().map(all));
        attention_decode(
            encoding,
            AttentionDecode { q, cache, y, length, shape, sinks, split, activation, packed_y: false },
        )
    }))
}

fn build_prefill(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, position, activation) = (case.shape['M'], case.shape['P'], case.activation);
    let (heads, head_dim, shape) = (case.shape['H'], case.shape['D'], attention_shape(case));
    let cache = maker.cache(case.shape['G'], head_dim, position + tokens, case.cache)?;
    let q = maker.activations(&[tokens, heads, head_dim], activation)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let sinks = sinks(maker, case)?;
    maker.expect(&y, || attend(&q.numbers(), &cache, position, &shape, sinks.as_ref()));
    Ok(Box::new(move |encoding| {
        let (q, cache, y, sinks) = (all(&q), cache.cache(), y.slice(), sinks.as_ref().map(all));
        attention_prefill(encoding, AttentionPrefill { q, cache, y, tokens, position, shape, sinks, activation })
    }))
}

fn attention_shape(case: &Case) -> AttentionShape {
    let scale = 1.0 / (case.shape['D'] as f32).sqrt();
    let soft_cap = case.shape.get('T').map(|cap| cap as f32);
    AttentionShape { heads: case.shape['H'], scale, soft_cap, window: case.shape.get('W') }
}

/// Sinks, for cases with a window.
fn sinks(maker: &Maker<'_>, case: &Case) -> std::result::Result<Option<Array>, Problem> {
    let heads = case.shape['H'];
    case.shape.get('W').map(|_| maker.activations(&[heads], Activation::F32)).transpose()
}

/// y[r] = Σ_p softmax_p(cap(scale · q[r] · k[p])) · v[p] over the positions p that row r sees: up to its own, and with
/// a window only the last `window` of these. A sink is one more score, without a value. Rows are the heads of a token,
/// token after token; the first token is at `position`.
fn attend(q: &[f64], cache: &Cache, position: usize, shape: &AttentionShape, sinks: Option<&Array>) -> Vec<f64> {
    let sinks = sinks.map(Array::numbers);
    let (dim, group) = (cache.head_dim, shape.heads / cache.heads);
    let (keys, values) = (cache.keys.numbers(), cache.values.numbers());
    let rows = q.chunks(dim).enumerate().flat_map(|(row, q)| {
        let (head, end) = (row % shape.heads / group, position + row / shape.heads + 1);
        let seen = shape.window.map_or(0, |window| end.saturating_sub(window))..end;
        let score = |p: usize| {
            let product: f64 = (0..dim).map(|i| q[i] * keys[cache.key_index(head, p, i)]).sum();
            let scaled = product * f64::from(shape.scale);
            shape.soft_cap.map_or(scaled, |cap| f64::from(cap) * (scaled / f64::from(cap)).tanh())
        };
        let sink = sinks.as_ref().map(|sinks| sinks[row % shape.heads]);
        let weights = formulas::softmax(&seen.clone().map(score).chain(sink).collect::<Vec<_>>());
        let value = |i| seen.clone().zip(&weights).map(|(p, w)| w * values[cache.value_index(head, p, i)]).sum();
        (0..dim).map(value).collect::<Vec<f64>>()
    });
    rows.collect()
}
