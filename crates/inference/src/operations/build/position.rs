//! Rotations, and the cache of keys and values.

use super::{Built, Maker};
use crate::metal::operations::kv_cache::{self, KvRead, KvWrite};
use crate::metal::operations::rope::{self, Rope, RopeKv, Rotation};
use crate::operations::case::Case;
use crate::operations::data::{Array, Cache, Problem, all};
use crate::operations::output::Output;
use compute::Buffer;

/// Rotation of heads, with its buffers.
struct Table {
    frequencies: Array,
    positions: Buffer,
    rotary: usize,
    neox: bool,
    magnitude: f32,
}

impl Table {
    fn new(maker: &Maker<'_>, case: &Case, tokens: usize, end: usize) -> Result<Table, Problem> {
        let rotary = case.shape.get('R').unwrap_or(case.shape['D']);
        // Those of models are powers, which are not the same on all machines.
        let frequencies: Vec<f32> = (0..rotary / 2).map(|i| 1.0 / (i + 1) as f32).collect();
        let frequencies = maker.floats(&frequencies)?;
        let positions = maker.positions(tokens, end)?;
        let (neox, magnitude) = (case.shape.get('X').is_some(), maker.parameter(1.0, 1.25));
        Ok(Table { frequencies, positions, rotary, neox, magnitude })
    }

    fn rotation(&self) -> Rotation<'_> {
        let (frequencies, positions) = (all(&self.frequencies), all(&self.positions));
        Rotation { frequencies, positions, rotary: self.rotary, neox: self.neox, magnitude: self.magnitude }
    }

    /// `[tokens, width]`: the heads at the beginning of each row. Pair i turns by the angle position · frequencies[i]:
    /// (a, b) → magnitude · (a·cos − b·sin, a·sin + b·cos).
    fn rotated(&self, rows: &[f64], stride: usize, width: usize, head_dim: usize) -> Vec<f64> {
        let (frequencies, positions) = (self.frequencies.numbers(), self.positions.read::<u32>());
        let (magnitude, mut y) = (f64::from(self.magnitude), Vec::new());
        for (row, position) in rows.chunks(stride).zip(positions) {
            for head in row[..width].chunks(head_dim) {
                let mut head = head.to_vec();
                for (i, frequency) in frequencies.iter().enumerate() {
                    // Kernels compute the angle in f32, which is part of the definition.
                    let angle = f64::from(position as f32 * *frequency as f32);
                    let (sine, cosine) = angle.sin_cos();
                    let (first, second) = if self.neox { (i, i + self.rotary / 2) } else { (2 * i, 2 * i + 1) };
                    let (a, b) = (magnitude * head[first], magnitude * head[second]);
                    (head[first], head[second]) = (a * cosine - b * sine, a * sine + b * cosine);
                }
                y.extend(head);
            }
        }
        y
    }
}

/// Keys and values, which the operation changes.
fn changed(maker: &Maker<'_>, cache: &Cache, case: &Case) -> (Output, Output) {
    let keys = maker.changed("keys", &cache.keys, case.cache.into());
    (keys, maker.changed("values", &cache.values, case.cache.into()))
}

/// [`Cache::key_index`] or [`Cache::value_index`].
type Index = fn(&Cache, usize, usize, usize) -> usize;

/// Keys or values after rows were written at their positions; the others stay as they are.
fn stored(
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

/// Rows of keys or values, from the position `first` on; the rest of a row stays as it is.
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

pub(crate) fn rope(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let x = maker.activations(&[tokens, stride], activation)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let table = Table::new(maker, case, tokens, maker.stride(tokens, 100))?;
    maker.expect(&y, || table.rotated(&x.numbers(), stride, heads * head_dim, head_dim));
    Ok(Box::new(move |encoding| {
        let (x, y, rotation) = (all(&x), y.slice(), table.rotation());
        rope::rope(encoding, Rope { x, y, rotation, tokens, heads, head_dim, stride, activation })
    }))
}

pub(crate) fn rope_kv(maker: &Maker<'_>, case: &Case) -> Built {
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
    let table = Table::new(maker, case, tokens, length)?;
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
        rope::rope_kv(encoding, op)
    }))
}

pub(crate) fn kv_write(maker: &Maker<'_>, case: &Case) -> Built {
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
        kv_cache::kv_write(encoding, op)
    }))
}

pub(crate) fn kv_read(maker: &Maker<'_>, case: &Case) -> Built {
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
        kv_cache::kv_read(encoding, op)
    }))
}
