//! Rotations, and the cache of keys and values.

use super::{Built, Maker};
use crate::metal::operations::kv_cache::{self, KvRead, KvWrite};
use crate::metal::operations::rope::{self, Rope, RopeKv, Rotation};
use crate::operations::case::Case;
use crate::operations::data::{Cache, Problem, all};
use compute::Buffer;

/// How heads are rotated, with its buffers.
struct Table {
    frequencies: Buffer,
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
}

/// The cache is written to.
fn changed(maker: &Maker<'_>, cache: &Cache, case: &Case) {
    maker.changed("keys", &cache.keys, case.cache.into());
    maker.changed("values", &cache.values, case.cache.into());
}

pub(crate) fn rope(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let x = maker.activations(&[tokens, stride], activation)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    let table = Table::new(maker, case, tokens, maker.stride(tokens, 100))?;
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
    changed(maker, &cache, case);
    let table = Table::new(maker, case, tokens, length)?;
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
    changed(maker, &cache, case);
    let positions = maker.positions(rows, length)?;
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
    Ok(Box::new(move |encoding| {
        let (cache, k, v) = (cache.cache(), k.slice(), v.slice());
        let op = KvRead { cache, k, v, first, count, k_stride, v_stride, activation };
        kv_cache::kv_read(encoding, op)
    }))
}
