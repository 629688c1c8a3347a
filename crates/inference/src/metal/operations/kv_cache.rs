//! The KV cache: `kv_cache.metal`, in the layout of `kv_layout.metal`.

use crate::cases::{Array, Built, Cache, Case, Maker, Number, Operation, Output, Variants, all};
use crate::formats::{Activation, CacheType};
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH};
use crate::metal::kernels::kv_cache as kernels;
use crate::metal::library::BufferSlice;
use compute::{Buffer, Result, Size};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "kv_write",
        kernels: &["kv_write"],
        variants: Variants::Cache,
        shape: "M=1 L=4096 G=kv_heads D=head_dim",
        checks: &["M=17 L=40 G=2 D=33"],
        bytes: |c| c.a(2.0 * c.mgd()) + c.kv(2.0 * c.mgd()),
        flops: |_| 0.0,
        build: build_write,
    },
    Operation {
        name: "kv_read",
        kernels: &["kv_read"],
        variants: Variants::Cache,
        shape: "L=4096 G=kv_heads D=head_dim",
        checks: &["L=37 P=5 G=2 D=33"],
        bytes: |c| {
            // Checks skip the first P positions.
            let numbers = 2.0 * (c.l() - c.shape.get('P').unwrap_or(0) as f64) * c.g() * c.d();
            c.a(numbers) + c.kv(numbers)
        },
        flops: |_| 0.0,
        build: build_read,
    },
];

/// Positions that lie side by side in the keys. The capacity is a multiple of it.
pub const KEY_TILE: usize = crate::metal::kernels::kv_layout::KEY_TILE;

/// The keys and values of one layer.
#[derive(Clone, Copy, Debug)]
pub struct KvCache<'a> {
    /// `[sequences, heads, capacity / 32, head_dim, 32]` in the format of keys of `ty`.
    pub keys: BufferSlice<'a>,
    /// `[sequences, heads, capacity, head_dim]` in the format of values of `ty`.
    pub values: BufferSlice<'a>,
    /// Heads of keys and values.
    pub heads: usize,
    /// Numbers in a head.
    pub head_dim: usize,
    /// Positions that the cache has room for: a multiple of 32.
    pub capacity: usize,
    /// The types of keys and values.
    pub ty: CacheType,
    /// Number of sequences.
    pub sequences: usize,
    /// Sequences of the rows of an operation.
    pub rows: CacheRows<'a>,
    /// Position p is stored at p % capacity, in place of an older one that no token sees any more: attention has a window,
    /// and there is room for it and the tokens of a step. Otherwise positions end at the capacity.
    pub is_ring: bool,
}

/// Sequences of the rows of an operation on a cache.
#[derive(Clone, Copy, Debug)]
pub enum CacheRows<'a> {
    /// All rows are tokens of this one.
    Sequence(usize),
    /// Each row is a token of a sequence of its own.
    Each {
        /// Number of rows.
        count: usize,
        /// `[count]` u32: the position of each token.
        positions: BufferSlice<'a>,
        /// `[count]` u32: its sequence.
        sequences: BufferSlice<'a>,
    },
}

impl KvCache<'_> {
    /// Bytes of a sequence's keys, and of its values; `None` if heads are not whole blocks, or if a number overflows.
    pub fn size(heads: usize, head_dim: usize, capacity: usize, ty: CacheType) -> Option<[usize; 2]> {
        let [keys, values] = ty.bytes(head_dim)?.map(|row| heads.checked_mul(row)?.checked_mul(capacity));
        Some([keys?, values?])
    }

    /// The sequence of all rows; 0 if each has its own.
    pub(super) fn sequence(&self) -> u32 {
        match self.rows {
            CacheRows::Sequence(sequence) => sequence as u32,
            CacheRows::Each { .. } => 0,
        }
    }

    /// Returns an error if rows have sequences of their own.
    pub(super) fn check_one_sequence(&self, check: &Check<'_>) -> Result<()> {
        match self.rows {
            CacheRows::Sequence(_) => Ok(()),
            CacheRows::Each { .. } => check.error("all rows must be tokens of one sequence"),
        }
    }

    /// Positions from here on are not stored.
    pub(super) fn limit(&self, capacity: u32) -> u32 {
        if self.is_ring { u32::MAX } else { capacity }
    }

    /// Checks the buffers, and returns heads and capacity.
    pub(super) fn check(&self, check: &Check<'_>) -> Result<(u32, u32)> {
        let heads = check.count("heads of the cache", self.heads)?;
        let capacity = check.count("capacity", self.capacity)?;
        check.count("head_dim", self.head_dim)?;
        if !self.capacity.is_multiple_of(KEY_TILE) {
            return check.error(format_args!("capacity is {capacity}: it must be a multiple of {KEY_TILE}"));
        }
        let Some([key, value]) = self.ty.bytes(self.head_dim) else {
            let (head_dim, ty) = (self.head_dim, self.ty);
            return check.error(format_args!("heads of {head_dim} numbers are not whole blocks of {ty}"));
        };
        match self.rows {
            CacheRows::Sequence(sequence) if sequence >= self.sequences => {
                let sequences = self.sequences;
                return check.error(format_args!("sequence {sequence}, but the cache has {sequences}"));
            }
            CacheRows::Sequence(_) => {}
            CacheRows::Each { count, positions, sequences } => {
                check.elements("positions", &positions, &[count], 4)?;
                check.elements("sequences", &sequences, &[count], 4)?;
            }
        }
        let counts = [self.sequences, self.heads, self.capacity];
        check.elements("keys", &self.keys, &counts, key)?;
        check.elements("values", &self.values, &counts, value)?;
        Ok((heads, capacity))
    }
}

/// [`kv_write`]: stores rows of keys and values in the cache.
#[derive(Clone, Copy, Debug)]
pub struct KvWrite<'a> {
    /// `[rows, k_stride]` activations: the keys of each row, of as many heads as the cache has.
    pub k: BufferSlice<'a>,
    /// `[rows, v_stride]` activations: the values.
    pub v: BufferSlice<'a>,
    /// Destination of keys and values.
    pub cache: KvCache<'a>,
    /// `[rows]` u32: the position of each row. A row whose position is not below the capacity is not stored.
    pub positions: BufferSlice<'a>,
    /// Number of rows.
    pub rows: usize,
    /// Numbers from one row of k to the next.
    pub k_stride: usize,
    /// Numbers from one row of v to the next.
    pub v_stride: usize,
    /// The type of k and v.
    pub activation: Activation,
}

/// Stores keys and values in the cache, unrotated.
pub fn kv_write(encoding: &mut Encoding<'_>, op: KvWrite<'_>) -> Result<()> {
    let kernel = kernels::KvWrite::select(op.activation, op.cache.ty);
    let blocks = kernels::KvWriteBlocks::select(op.activation, op.cache.ty);
    let Some(info) = kernel.map(|kernel| kernel.info()).or(blocks.map(|kernel| kernel.info())) else {
        return Err(compute::Error::Internal(format!("no kernel stores keys in {}", op.cache.ty)));
    };
    let check = Check::new("kv_write", info);
    let (_, capacity) = op.cache.check(&check)?;
    op.cache.check_one_sequence(&check)?;
    let width = op.cache.heads * op.cache.head_dim;
    check.rows("k", &op.k, op.rows, op.k_stride, width)?;
    check.rows("v", &op.v, op.rows, op.v_stride, width)?;
    check.room("positions", &op.positions, &[op.rows])?;
    if op.rows == 0 {
        return Ok(());
    }
    let params = kernels::KvWriteParams {
        k_stride: check.count("k_stride", op.k_stride)?,
        v_stride: check.count("v_stride", op.v_stride)?,
        capacity,
        limit: op.cache.limit(capacity),
        sequence: op.cache.sequence(),
    };
    let head_dim = check.count("head_dim", op.cache.head_dim)?;
    let (k, v, keys, values, positions) = (op.k, op.v, op.cache.keys, op.cache.values, op.positions);
    let sizes = [('M', op.rows), ('G', op.cache.heads), ('D', op.cache.head_dim)];
    encoding.describe(&OPERATIONS[0], (op.activation, op.cache.ty), &sizes);
    let grid = grid(&op.cache, op.rows);
    if let Some(kernel) = blocks {
        let arguments = kernels::KvWriteBlocksArgs { k, v, keys, values, positions, p: &params };
        return encoding.dispatch(kernel, &kernels::KvWriteBlocksConstants { head_dim }, &arguments, grid);
    }
    let Some(kernel) = kernel else { return Ok(()) };
    let arguments = kernels::KvWriteArgs { k, v, keys, values, positions, p: &params };
    encoding.dispatch(kernel, &kernels::KvWriteConstants { head_dim }, &arguments, grid)
}

/// [`kv_read`]: loads rows of keys and values from the cache.
#[derive(Clone, Copy, Debug)]
pub struct KvRead<'a> {
    /// Source of keys and values.
    pub cache: KvCache<'a>,
    /// `[count, k_stride]` activations: the keys of each position.
    pub k: BufferSlice<'a>,
    /// `[count, v_stride]` activations: the values.
    pub v: BufferSlice<'a>,
    /// The first position.
    pub first: usize,
    /// Number of positions.
    pub count: usize,
    /// Numbers from one row of k to the next.
    pub k_stride: usize,
    /// Numbers from one row of v to the next.
    pub v_stride: usize,
    /// The type of k and v.
    pub activation: Activation,
}

/// Loads keys and values from the cache.
pub fn kv_read(encoding: &mut Encoding<'_>, op: KvRead<'_>) -> Result<()> {
    let kernel = kernels::KvRead::select(op.activation, op.cache.ty);
    let check = Check::new("kv_read", kernel.info());
    let (_, capacity) = op.cache.check(&check)?;
    let end = op.first.checked_add(op.count);
    if end.is_none_or(|end| end > op.cache.capacity && !(op.cache.is_ring && u32::try_from(end).is_ok())) {
        let (first, count) = (op.first, op.count);
        return check.error(format_args!("{count} positions from {first} on, but the cache has {capacity}"));
    }
    op.cache.check_one_sequence(&check)?;
    let width = op.cache.heads * op.cache.head_dim;
    check.rows("k", &op.k, op.count, op.k_stride, width)?;
    check.rows("v", &op.v, op.count, op.v_stride, width)?;
    if op.count == 0 {
        return Ok(());
    }
    let params = kernels::KvReadParams {
        first: op.first as u32,
        k_stride: check.count("k_stride", op.k_stride)?,
        v_stride: check.count("v_stride", op.v_stride)?,
        capacity,
        sequence: op.cache.sequence(),
    };
    let constants = kernels::KvReadConstants { head_dim: check.count("head_dim", op.cache.head_dim)? };
    let arguments =
        kernels::KvReadArgs { keys: op.cache.keys, values: op.cache.values, k: op.k, v: op.v, p: &params };
    let sizes = [('L', op.count), ('G', op.cache.heads), ('D', op.cache.head_dim)];
    encoding.describe(&OPERATIONS[1], (op.activation, op.cache.ty), &sizes);
    encoding.dispatch(kernel, &constants, &arguments, grid(&op.cache, op.count))
}

fn grid(cache: &KvCache<'_>, rows: usize) -> DispatchGrid {
    DispatchGrid { threadgroups: Size::new(cache.head_dim.div_ceil(SIMD_WIDTH), rows, cache.heads), simdgroups: 1 }
}

fn build_write(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, length, activation) = (case.shape['M'], case.shape['L'], case.activation);
    let (heads, head_dim) = (case.shape['G'], case.shape['D']);
    let width = heads.saturating_mul(head_dim);
    let (k_stride, v_stride) = (maker.stride(width, 1), maker.stride(width, 2));
    let (k, v) =
        (maker.activations(&[rows, k_stride], activation)?, maker.activations(&[rows, v_stride], activation)?);
    let cache = maker.cache(heads, head_dim, length, case.cache)?;
    let (keys, values) = changed(maker, &cache, case);
    let positions = maker.positions(rows, length)?;
    maker.expect(&keys, || stored(&cache, (&cache.keys, Cache::key_index), &k.numbers(), k_stride, &positions));
    maker.expect(&values, || {
        stored(&cache, (&cache.values, Cache::value_index), &v.numbers(), v_stride, &positions)
    });
    Ok(Box::new(move |encoding| {
        let op = KvWrite {
            k: all(&k),
            v: all(&v),
            cache: cache.cache(),
            positions: all(&positions),
            rows,
            k_stride,
            v_stride,
            activation,
        };
        kv_write(encoding, op)
    }))
}

fn build_read(maker: &Maker<'_>, case: &Case) -> Built {
    let (end, heads, head_dim, activation) = (case.shape['L'], case.shape['G'], case.shape['D'], case.activation);
    let cache = maker.cache(heads, head_dim, end, case.cache)?;
    let first = case.shape.get('P').unwrap_or(0);
    let (count, width) = (end.saturating_sub(first), heads.saturating_mul(head_dim));
    let (k_stride, v_stride) = (maker.stride(width, 1), maker.stride(width, 2));
    let result = |name, stride| maker.output(name, &[count, stride], activation.into());
    let (k, v) = (result("k", k_stride)?, result("v", v_stride)?);
    maker.expect(&k, || loaded(&cache, (&cache.keys, Cache::key_index), &k, k_stride, first));
    maker.expect(&v, || loaded(&cache, (&cache.values, Cache::value_index), &v, v_stride, first));
    Ok(Box::new(move |encoding| {
        let (cache, k, v) = (cache.cache(), k.slice(), v.slice());
        let op = KvRead { cache, k, v, first, count, k_stride, v_stride, activation };
        kv_read(encoding, op)
    }))
}

/// Keys and values as outputs: the operation updates them in place.
pub(super) fn changed(maker: &Maker<'_>, cache: &Cache, case: &Case) -> (Output, Output) {
    let keys = maker.changed("keys", &cache.keys, Number::cached(case.cache.keys()));
    (keys, maker.changed("values", &cache.values, Number::cached(case.cache.values())))
}

/// [`Cache::key_index`] or [`Cache::value_index`].
type Index = fn(&Cache, usize, usize, usize) -> usize;

/// Keys or values after rows were stored at their positions; the other positions are unchanged.
pub(super) fn stored(
    cache: &Cache,
    (array, index): (&Array, Index),
    rows: &[f64],
    stride: usize,
    positions: &Buffer,
) -> Vec<f64> {
    let mut numbers = array.numbers();
    for (row, position) in rows.chunks(stride).zip(positions.read::<u32>()) {
        for (j, number) in row[..cache.heads * cache.head_dim].iter().enumerate() {
            numbers[index(cache, j / cache.head_dim, position as usize, j % cache.head_dim)] = *number;
        }
    }
    numbers
}

/// Rows of keys or values from the position `first` on; padding at the end of a row is unchanged.
fn loaded(
    cache: &Cache,
    (array, index): (&Array, Index),
    output: &Output,
    stride: usize,
    first: usize,
) -> Vec<f64> {
    let (numbers, mut rows) = (array.numbers(), output.numbers());
    for (row, position) in rows.chunks_mut(stride).zip(first..) {
        for (j, number) in row[..cache.heads * cache.head_dim].iter_mut().enumerate() {
            *number = numbers[index(cache, j / cache.head_dim, position, j % cache.head_dim)];
        }
    }
    rows
}
