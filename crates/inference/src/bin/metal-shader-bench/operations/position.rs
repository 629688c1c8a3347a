//! Rotations, and the cache of keys and values.

use super::{Built, Maker};
use crate::cases::Case;
use crate::data::all;
use compute::Buffer;
use inference::metal::dispatch::kv_cache::{self, KvRead, KvWrite};
use inference::metal::dispatch::rope::{self, Rope, RopeKv, Rotation, frequencies};

const BASE: f64 = 500_000.0;

fn rotation<'a>(frequencies: &'a Buffer, positions: &'a Buffer, rotary: usize) -> Rotation<'a> {
    let (frequencies, positions) = (all(frequencies), all(positions));
    Rotation { frequencies, positions, rotary, neox: false, magnitude: 1.0 }
}

pub(crate) fn rope(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let x = maker.activations(&[tokens, heads, head_dim], activation)?;
    let y = maker.zeros(&[tokens, heads, head_dim], activation.size())?;
    let table = maker.zeros(&[head_dim], 4)?;
    table.write(0, &frequencies(BASE, head_dim, None))?;
    let positions = maker.positions(tokens, tokens)?;
    let stride = heads.saturating_mul(head_dim);
    Ok(Box::new(move |encoding| {
        let (x, y, rotation) = (all(&x), all(&y), rotation(&table, &positions, head_dim));
        rope::rope(encoding, Rope { x, y, rotation, tokens, heads, head_dim, stride, activation })
    }))
}

pub(crate) fn rope_kv(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, heads, head_dim, activation) =
        (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let (length, kv_heads) = (case.shape['L'], case.shape['G']);
    let q = maker.activations(&[tokens, heads, head_dim], activation)?;
    let (k, v) = (
        maker.activations(&[tokens, kv_heads, head_dim], activation)?,
        maker.activations(&[tokens, kv_heads, head_dim], activation)?,
    );
    let y = maker.zeros(&[tokens, heads, head_dim], activation.size())?;
    let cache = maker.cache(kv_heads, head_dim, length, case.cache)?;
    let table = maker.zeros(&[head_dim], 4)?;
    table.write(0, &frequencies(BASE, head_dim, None))?;
    let positions = maker.positions(tokens, length)?;
    let (q_stride, kv_stride) = (heads.saturating_mul(head_dim), kv_heads.saturating_mul(head_dim));
    Ok(Box::new(move |encoding| {
        let op = RopeKv {
            q: all(&q),
            k: all(&k),
            v: all(&v),
            y: all(&y),
            cache: cache.cache(),
            rotation: rotation(&table, &positions, head_dim),
            tokens,
            heads,
            q_stride,
            k_stride: kv_stride,
            v_stride: kv_stride,
            activation,
        };
        rope::rope_kv(encoding, op)
    }))
}

pub(crate) fn kv_write(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, length, activation) = (case.shape['M'], case.shape['L'], case.activation);
    let (heads, head_dim) = (case.shape['G'], case.shape['D']);
    let (k, v) = (
        maker.activations(&[rows, heads, head_dim], activation)?,
        maker.activations(&[rows, heads, head_dim], activation)?,
    );
    let cache = maker.cache(heads, head_dim, length, case.cache)?;
    let positions = maker.positions(rows, length)?;
    let stride = heads.saturating_mul(head_dim);
    Ok(Box::new(move |encoding| {
        let op = KvWrite {
            k: all(&k),
            v: all(&v),
            cache: cache.cache(),
            positions: all(&positions),
            rows,
            k_stride: stride,
            v_stride: stride,
            activation,
        };
        kv_cache::kv_write(encoding, op)
    }))
}

pub(crate) fn kv_read(maker: &Maker<'_>, case: &Case) -> Built {
    let (count, heads, head_dim, activation) = (case.shape['L'], case.shape['G'], case.shape['D'], case.activation);
    let cache = maker.cache(heads, head_dim, count, case.cache)?;
    let result = || maker.zeros(&[count, heads, head_dim], activation.size());
    let (k, v) = (result()?, result()?);
    let stride = heads.saturating_mul(head_dim);
    Ok(Box::new(move |encoding| {
        let (cache, k, v) = (cache.cache(), all(&k), all(&v));
        let op = KvRead { cache, k, v, first: 0, count, k_stride: stride, v_stride: stride, activation };
        kv_cache::kv_read(encoding, op)
    }))
}
