//! `rope.metal`

use crate::cache::Cache;
use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{Rope, RopeKv, Rotation, rope, rope_frequencies, rope_kv};

/// Heads, head size, rotated numbers, and NeoX pairs.
const SHAPES: [(usize, usize, usize, bool); 6] = [
    (1, 64, 64, false),
    (9, 64, 64, true),
    (3, 128, 128, true),
    (2, 80, 32, true),
    (2, 96, 24, false),
    (4, 2, 2, false),
];

/// The first position, the last of a context, and others.
const POSITIONS: [u32; 5] = [0, 1, 7, 131071, 4096];

const BASE: f64 = 10000.0;

/// Rotates the first `heads · dim` numbers of each row, and drops the rest.
fn reference(
    x: &[f64],
    stride: usize,
    shape: (usize, usize, usize, bool),
    turns: &[f32],
    magnitude: f64,
) -> Vec<f64> {
    let (heads, dim, rotary, neox) = shape;
    let mut y = Vec::new();
    for (row, position) in x.chunks(stride).zip(POSITIONS) {
        for head in row[..heads * dim].chunks(dim) {
            let mut head = head.to_vec();
            for (i, turn) in turns.iter().enumerate() {
                // The angle is an f32, as in the kernels.
                let angle = f64::from(position as f32 * turn);
                let (a, b) = if neox { (i, i + rotary / 2) } else { (2 * i, 2 * i + 1) };
                let (sine, cosine) = (angle.sin() * magnitude, angle.cos() * magnitude);
                (head[a], head[b]) = (head[a] * cosine - head[b] * sine, head[a] * sine + head[b] * cosine);
            }
            y.extend(head);
        }
    }
    y
}

#[test]
fn heads_turn_by_their_positions() {
    for (activation, shape) in Activation::ALL.into_iter().flat_map(|a| SHAPES.map(|shape| (a, shape))) {
        let (heads, dim, rotary, neox) = shape;
        let splits = if dim == 80 { 5 } else { 1 };
        let what = format!("rope {activation} {heads}×{dim}, {rotary}, neox {neox}");
        let (tokens, stride) = (POSITIONS.len(), heads * dim + 3);
        let mut random = Random::new(dim as u64);
        let x = Tensor::new(activation, &random.normals(tokens * stride));
        let factors: Vec<f32> = (0..rotary / 2).map(|i| 1.0 + i as f32 / 8.0).collect();
        let turns = rope_frequencies(BASE, rotary, (rotary % 3 == 0).then_some(&factors));
        let magnitude = if neox { 1.0 } else { 1.25 };
        let positions = Tensor::integers(&POSITIONS);
        let frequencies = Tensor::new(Type::F32, &turns.iter().copied().map(f64::from).collect::<Vec<_>>());
        let y = repeated(&what, Tensor::contents, || {
            let y = Tensor::poisoned(activation, tokens * heads * dim);
            let rotation = Rotation {
                frequencies: frequencies.slice(),
                positions: positions.slice(),
                rotary,
                neox,
                magnitude: magnitude as f32,
            };
            let (x, y_slice) = (x.slice(), y.slice());
            let op = Rope { x, y: y_slice, rotation, tokens, heads, head_dim: dim, stride, activation };
            run(|encoding| {
                encoding.tuning.simdgroups = splits * tokens;
                rope(encoding, op)
            });
            y
        });
        let expected = reference(&x.numbers(), stride, shape, &turns, magnitude);
        assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
    }
}

#[test]
fn frequencies_fall_with_the_base_and_the_factors() {
    assert_eq!(rope_frequencies(10000.0, 4, None), [1.0, 0.01]);
    assert_eq!(rope_frequencies(10000.0, 4, Some(&[1.0, 4.0])), [1.0, 0.0025]);
    assert!(rope_frequencies(500000.0, 0, None).is_empty());
}

#[test]
fn rope_kv_stores_keys_and_values() {
    let types = [
        (Activation::F32, Activation::F32),
        (Activation::F32, Activation::F16),
        (Activation::F16, Activation::F32),
        (Activation::F16, Activation::F16),
    ];
    for ((activation, ty), (kv_heads, shape)) in types.into_iter().zip([
        (3, (9, 64, 64, false)),
        (1, (4, 80, 32, true)),
        (2, (2, 128, 128, true)),
        (3, (9, 64, 64, true)),
    ]) {
        let (heads, dim, rotary, neox) = shape;
        let splits = if dim == 80 { 3 } else { 1 };
        let what = format!("rope_kv {activation} {ty} {heads}/{kv_heads}×{dim}, {rotary}, neox {neox}");
        // A row contains the heads of q, k and v, as one product writes them.
        let (tokens, stride) = (POSITIONS.len(), (heads + 2 * kv_heads) * dim);
        let x = Random::new(dim as u64).normals(tokens * stride);
        let part = |first: usize| {
            let after = (first * dim..tokens * stride).map(|i| x[i]);
            Tensor::new(activation, &after.collect::<Vec<_>>())
        };
        let (q, k, v) = (part(0), part(heads), part(heads + kv_heads));
        let turns = rope_frequencies(BASE, rotary, None);
        let frequencies = Tensor::new(Type::F32, &turns.iter().copied().map(f64::from).collect::<Vec<_>>());
        let positions = Tensor::integers(&POSITIONS);
        let both = |(y, cache): &(Tensor, Cache)| [y.contents(), cache.contents()].concat();
        let (y, cache) = repeated(&what, both, || {
            let y = Tensor::poisoned(activation, tokens * heads * dim);
            let cache = Cache::poisoned(kv_heads, dim, 4128, ty);
            let rotation = Rotation {
                frequencies: frequencies.slice(),
                positions: positions.slice(),
                rotary,
                neox,
                magnitude: 1.0,
            };
            let op = RopeKv {
                q: q.slice(),
                k: k.slice(),
                v: v.slice(),
                y: y.slice(),
                cache: cache.cache(),
                rotation,
                tokens,
                heads,
                q_stride: stride,
                k_stride: stride,
                v_stride: stride,
                activation,
            };
            run(|encoding| {
                encoding.tuning.simdgroups = splits * tokens;
                rope_kv(encoding, op)
            });
            (y, cache)
        });
        let rotated =
            |tensor: &Tensor, heads| reference(&tensor.numbers(), stride, (heads, dim, rotary, neox), &turns, 1.0);
        assert_close(&what, &y.numbers(), &rotated(&q, heads), ErrorBound::of(activation));

        // One position is beyond the end of the cache.
        let stored: Vec<u32> = POSITIONS.into_iter().filter(|&position| position < 4128).collect();
        let (keys, values) = cache.rows(&stored);
        let kept = |numbers: Vec<f64>| -> Vec<f64> {
            let rows = numbers.chunks(kv_heads * dim).zip(POSITIONS);
            rows.filter(|(_, position)| stored.contains(position)).flat_map(|(row, _)| row.to_vec()).collect()
        };
        assert_close(&format!("{what}: keys"), &keys, &kept(rotated(&k, kv_heads)), ErrorBound::of(ty));
        let values_read: Vec<f64> =
            v.numbers().chunks(stride).flat_map(|row| row[..kv_heads * dim].to_vec()).collect();
        assert_eq!(values, Tensor::new(ty, &kept(values_read)).numbers(), "{what}: values, as they are");
    }
}

#[test]
fn rejects_heads_that_cannot_be_rotated() {
    let x = Tensor::new(Type::F32, &[1.0; 128]);
    let positions = Tensor::integers(&[0]);
    let rotation =
        Rotation { frequencies: x.slice(), positions: positions.slice(), rotary: 64, neox: false, magnitude: 1.0 };
    let op = Rope {
        x: x.slice(),
        y: x.slice(),
        rotation,
        tokens: 1,
        heads: 2,
        head_dim: 64,
        stride: 128,
        activation: Activation::F32,
    };
    run(|encoding| rope(encoding, Rope { tokens: 0, ..op }));
    let odd = |rotary, head_dim| {
        let rotation = Rotation { rotary, ..rotation };
        rejected(|encoding| rope(encoding, Rope { rotation, head_dim, ..op }))
    };
    for (rotary, head_dim) in [(66, 64), (31, 64), (4, 5)] {
        let message = odd(rotary, head_dim);
        assert!(message.starts_with(&format!("rope: {rotary} of {head_dim} numbers of a head")), "{message}");
    }
    let two = Tensor::integers(&[0, 1]);
    let rotation = Rotation { positions: two.slice(), ..rotation };
    let message =
        rejected(|encoding| rope(encoding, Rope { rotation, tokens: 2, heads: 1, stride: 64 + 64, ..op }));
    assert_eq!(message, "rope: x has 512 bytes, but 192 elements of 4 bytes are needed");
    let wide = Tensor::new(Type::F32, &[1.0; 192]);
    let op_wide = Rope { x: wide.slice(), y: wide.slice(), rotation, tokens: 2, heads: 1, stride: 128, ..op };
    let message = rejected(|encoding| rope(encoding, op_wide));
    assert_eq!(message, "rope: y would be written over x while that is read");
    let message = rejected(|encoding| rope(encoding, Rope { tokens: 2, ..op }));
    assert_eq!(message, "rope: positions has 4 bytes, but 2 elements of 4 bytes are needed");
}
