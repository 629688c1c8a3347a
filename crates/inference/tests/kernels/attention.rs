//! `attention.metal`

use crate::cache::Cache;
use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, CacheType};
use metalworks_inference::metal::operations::*;

/// A cache with random keys and values at the first `length` positions, and poison after them.
pub(crate) fn filled(heads: usize, dim: usize, length: usize, ty: Activation, random: &mut Random) -> Cache {
    let capacity = length.next_multiple_of(32) + 32;
    let cache = Cache::poisoned(heads, dim, capacity, ty);
    let (mut keys, mut values) = (vec![f64::NAN; heads * dim * capacity], vec![f64::NAN; heads * dim * capacity]);
    for (head, position) in (0..heads).flat_map(|head| (0..length).map(move |position| (head, position))) {
        for i in 0..dim {
            keys[cache.key_index(head, position, i)] = random.normal();
            values[cache.value_index(head, position, i)] = random.normal();
        }
    }
    Cache { keys: Tensor::new(ty, &keys), values: Tensor::new(ty, &values), ..cache }
}

/// The formula, for tokens from `position` on.
fn reference(q: &[f64], cache: &Cache, position: usize, shape: &AttentionShape) -> Vec<f64> {
    let (dim, group) = (cache.head_dim, shape.heads / cache.heads);
    let (keys, values) = (cache.keys.numbers(), cache.values.numbers());
    let mut y = Vec::with_capacity(q.len());
    for (row, q) in q.chunks(dim).enumerate() {
        let (head, last) = (row % shape.heads / group, position + row / shape.heads);
        let seen = shape.window.map_or(0, |window| (last + 1).saturating_sub(window))..last + 1;
        let score = |p: usize| {
            let product: f64 = (0..dim).map(|i| q[i] * keys[cache.key_index(head, p, i)]).sum();
            let scaled = product * f64::from(shape.scale);
            shape.soft_cap.map_or(scaled, |cap| f64::from(cap) * (scaled / f64::from(cap)).tanh())
        };
        let scores: Vec<f64> = seen.clone().map(score).collect();
        let largest = scores.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
        let total: f64 = weights.iter().sum();
        let value = |i: usize| {
            let weighted =
                seen.clone().zip(&weights).map(|(p, weight)| weight * values[cache.value_index(head, p, i)]);
            weighted.sum::<f64>() / total
        };
        y.extend((0..dim).map(value));
    }
    y
}

fn shape(heads: usize, dim: usize, soft_cap: Option<f32>, window: Option<usize>) -> AttentionShape {
    AttentionShape { heads, scale: 1.0 / (dim as f32).sqrt(), soft_cap, window }
}

#[test]
fn attention_of_one_token() {
    // Heads of the cache, query heads per cache head, head size, positions, soft cap, window.
    let shapes = [
        (1, 1, 64, 1, None, None),
        (3, 3, 64, 2, None, None),
        (3, 3, 64, 33, None, None),
        (1, 4, 80, 7, None, None),
        (2, 2, 80, 1000, None, Some(100)),
        (2, 6, 96, 31, Some(3.0), None),
        (1, 8, 128, 32, None, Some(1)),
        (2, 4, 128, 1000, None, None),
        (1, 10, 256, 65, Some(5.0), Some(33)),
        (1, 1, 32, 97, None, Some(96)),
        (2, 1, 72, 40, None, None),
    ];
    for (kv_heads, group, dim, length, soft_cap, window) in shapes {
        for (activation, ty) in Activation::ALL.into_iter().flat_map(|a| Activation::ALL.map(|ty| (a, ty))) {
            let heads = kv_heads * group;
            let what =
                format!("decode {heads}/{kv_heads} heads of {dim}, {length} positions, {activation} kv {ty}");
            let mut random = Random::new((dim + length) as u64);
            let cache = filled(kv_heads, dim, length, ty, &mut random);
            let q = Tensor::new(activation, &random.normals(heads * dim));
            let shape = shape(heads, dim, soft_cap, window);
            let decode = |parts: Option<usize>, wide: Option<usize>| {
                repeated(&what, Tensor::contents, || {
                    let y = Tensor::poisoned(activation, heads * dim);
                    let scratch_bytes = AttentionSplit::scratch_bytes(heads, dim, parts.unwrap_or(0));
                    let scratch = Tensor::poisoned(Type::Bytes, scratch_bytes);
                    let split = parts.map(|count| AttentionSplit { count, scratch: scratch.slice(), wide });
                    let (q, cache, result) = (q.slice(), cache.cache(), y.slice());
                    let op = AttentionDecode {
                        q,
                        cache,
                        y: result,
                        length,
                        shape,
                        sinks: None,
                        split,
                        activation,
                        packed_y: false,
                    };
                    run(|encoding| attention_decode(encoding, op));
                    scratch.contents();
                    y
                })
            };
            let expected = reference(&q.numbers(), &cache, length - 1, &shape);
            let mut ways = vec![(None, None), (Some(1), None), (Some(3), None), (Some(40), None)];
            if AttentionSplit::is_wide(dim, ty.into()) {
                ways.extend([(Some(1), Some(4)), (Some(3), Some(1)), (Some(40), Some(2))]);
            }
            for (parts, wide) in ways {
                assert_close(
                    &format!("{what}, {parts:?} parts, {wide:?} simdgroups"),
                    &decode(parts, wide).numbers(),
                    &expected,
                    ErrorBound::of(activation),
                );
            }
        }
    }
}

#[test]
fn attention_of_many_tokens() {
    // Heads of the cache, query heads per cache head, head size, tokens, positions before them, soft cap, window.
    let shapes = [
        (1, 1, 64, 1, 0, None, None),
        (3, 3, 64, 2, 0, None, None),
        (1, 2, 64, 33, 0, None, None),
        (1, 1, 80, 7, 31, None, None),
        (2, 2, 96, 31, 5, Some(2.0), None),
        (1, 4, 128, 32, 100, None, Some(40)),
        (1, 1, 256, 9, 0, None, Some(3)),
        (1, 1, 64, 300, 700, None, Some(64)),
    ];
    for (kv_heads, group, dim, tokens, position, soft_cap, window) in shapes {
        for (activation, ty) in Activation::ALL.into_iter().flat_map(|a| Activation::ALL.map(|ty| (a, ty))) {
            let heads = kv_heads * group;
            let what = format!(
                "prefill {heads}/{kv_heads} heads of {dim}, {tokens} from {position}, {activation} kv {ty}"
            );
            let mut random = Random::new((dim + tokens) as u64);
            let cache = filled(kv_heads, dim, position + tokens, ty, &mut random);
            let q = Tensor::new(activation, &random.normals(tokens * heads * dim));
            let shape = shape(heads, dim, soft_cap, window);
            let y = repeated(&what, Tensor::contents, || {
                let y = Tensor::poisoned(activation, tokens * heads * dim);
                let (q, cache, result) = (q.slice(), cache.cache(), y.slice());
                let op = AttentionPrefill { q, cache, y: result, tokens, position, shape, sinks: None, activation };
                run(|encoding| attention_prefill(encoding, op));
                y
            });
            let expected = reference(&q.numbers(), &cache, position, &shape);
            assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

/// Stores the positions `from` … `to` − 1 of rows of keys and values in a sequence of a cache.
fn store(cache: KvCache<'_>, rows: &[Tensor; 2], from: usize, to: usize) {
    let width = cache.heads * cache.head_dim;
    let positions: Vec<u32> = (from..to).map(|position| position as u32).collect();
    let positions = Tensor::integers(&positions);
    let [k, v] = [0, 1].map(|i| rows[i].part(from * width, (to - from) * width));
    let (k_stride, v_stride, activation) = (width, width, Activation::F32);
    let op = KvWrite { k, v, cache, positions: positions.slice(), rows: to - from, k_stride, v_stride, activation };
    run(|encoding| kv_write(encoding, op));
}

#[test]
fn a_ring_holds_the_window() {
    let (kv_heads, heads, dim, window, length) = (2, 4, 64, 40, 300);
    // Room for the window and 25 tokens: more than one turn.
    let capacity = 64;
    let mut random = Random::new(17);
    let rows = [0, 1].map(|_| Tensor::new(Type::F32, &random.normals(length * kv_heads * dim)));
    let shape = shape(heads, dim, None, Some(window));
    for ty in CacheType::ALL {
        let whole = Cache::poisoned(kv_heads, dim, length.next_multiple_of(32), ty);
        store(whole.cache(), &rows, 0, length);
        let ring = Cache::poisoned(kv_heads, dim, capacity, ty);
        let ring_cache = KvCache { is_ring: true, ..ring.cache() };
        for first in (0..length).step_by(20) {
            store(ring_cache, &rows, first, first + 20);
        }
        let (activation, packed_y) = (Activation::F32, false);
        for (tokens, split, wide) in
            [(1, None, None), (1, Some(3), None), (1, Some(2), Some(2)), (17, None, None), (25, None, None)]
        {
            if wide.is_some() && !AttentionSplit::is_wide(dim, ty) {
                continue;
            }
            let q = Tensor::new(activation, &random.normals(tokens * heads * dim));
            let attend = |cache: KvCache<'_>| {
                let y = Tensor::poisoned(activation, tokens * heads * dim);
                let scratch = AttentionSplit::scratch_bytes(heads, dim, split.unwrap_or(0));
                let scratch = Tensor::poisoned(Type::Bytes, scratch);
                let split = split.map(|count| AttentionSplit { count, scratch: scratch.slice(), wide });
                let (q, y_slice, position) = (q.slice(), y.slice(), length - tokens);
                run(|encoding| match tokens {
                    1 => attention_decode(
                        encoding,
                        AttentionDecode {
                            q,
                            cache,
                            y: y_slice,
                            length,
                            shape,
                            sinks: None,
                            split,
                            activation,
                            packed_y,
                        },
                    ),
                    _ => attention_prefill(
                        encoding,
                        AttentionPrefill { q, cache, y: y_slice, tokens, position, shape, sinks: None, activation },
                    ),
                });
                y.numbers()
            };
            assert_eq!(attend(ring_cache), attend(whole.cache()), "{ty}, {tokens} tokens, {split:?} parts");
        }
        let q = Tensor::new(activation, &random.normals(26 * heads * dim));
        let y = Tensor::poisoned(activation, 26 * heads * dim);
        let op = AttentionPrefill {
            q: q.slice(),
            cache: ring_cache,
            y: y.slice(),
            tokens: 26,
            position: 200,
            shape,
            sinks: None,
            activation,
        };
        assert_eq!(
            rejected(|encoding| attention_prefill(encoding, op)),
            "attention_prefill: the ring has room for 64 positions, but 65 are needed"
        );
        let shape = AttentionShape { window: None, ..shape };
        assert_eq!(
            rejected(|encoding| attention_prefill(encoding, AttentionPrefill { tokens: 1, shape, ..op })),
            "attention_prefill: the cache is a ring, but attention has no window"
        );
    }
}

#[test]
fn rows_of_several_sequences_attend_as_single_ones() {
    let (kv_heads, heads, dim, capacity, sequences) = (2, 6, 64, 128, 4);
    let mut random = Random::new(23);
    let (activation, packed_y) = (Activation::F32, false);
    let shape = shape(heads, dim, None, None);
    for ty in CacheType::ALL {
        // Sequences beside each other, as heads of a larger cache.
        let all = Cache::poisoned(kv_heads * sequences, dim, capacity, ty);
        fn cache<'a>(all: &'a Cache, sequences: usize, rows: CacheRows<'a>) -> KvCache<'a> {
            KvCache { heads: all.heads / sequences, sequences, rows, ..all.cache() }
        }
        let lengths = [100usize, 1, 33, 64];
        for (sequence, &length) in lengths.iter().enumerate() {
            let rows = [0, 1].map(|_| Tensor::new(Type::F32, &random.normals(length * kv_heads * dim)));
            store(cache(&all, sequences, CacheRows::Sequence(sequence)), &rows, 0, length);
        }
        let order = [2u32, 0, 3];
        let count = order.len();
        let last = order.map(|sequence| lengths[sequence as usize] as u32 - 1);
        let (row_sequences, positions) = (Tensor::integers(&order), Tensor::integers(&last));
        let q = Tensor::new(activation, &random.normals(count * heads * dim));
        for (split, wide) in [(None, None), (Some(3), None), (Some(2), Some(2))] {
            if wide.is_some() && !AttentionSplit::is_wide(dim, ty) {
                continue;
            }
            let attend = |rows: CacheRows<'_>, first: usize, count: usize, length: usize| {
                let y = Tensor::poisoned(activation, count * heads * dim);
                let scratch = AttentionSplit::scratch_bytes(heads, dim, split.unwrap_or(0)) * count;
                let scratch = Tensor::poisoned(Type::Bytes, scratch);
                let split = split.map(|count| AttentionSplit { count, scratch: scratch.slice(), wide });
                let (q, y_slice) = (q.part(first * heads * dim, count * heads * dim), y.slice());
                let cache = cache(&all, sequences, rows);
                let op = AttentionDecode {
                    q,
                    cache,
                    y: y_slice,
                    length,
                    shape,
                    sinks: None,
                    split,
                    activation,
                    packed_y,
                };
                run(|encoding| attention_decode(encoding, op));
                scratch.contents();
                y.numbers()
            };
            let each = CacheRows::Each { count, positions: positions.slice(), sequences: row_sequences.slice() };
            let together = attend(each, 0, count, 1);
            let single = |row: usize| {
                let sequence = order[row] as usize;
                attend(CacheRows::Sequence(sequence), row, 1, lengths[sequence])
            };
            assert_eq!(together, (0..count).flat_map(single).collect::<Vec<f64>>(), "{ty}, {split:?} parts");
        }
    }
}

#[test]
fn large_scores_do_not_overflow() {
    let (dim, length) = (64, 70);
    let mut random = Random::new(9);
    let cache = filled(1, dim, length, Activation::F32, &mut random);
    let q = Tensor::new(Type::F32, &random.normals(dim).iter().map(|q| q * 1e4).collect::<Vec<f64>>());
    let y = Tensor::poisoned(Type::F32, dim);
    let shape = AttentionShape { heads: 1, scale: 1.0, soft_cap: None, window: None };
    let (activation, split) = (Activation::F32, None);
    let (q_slice, cache_slices, packed_y) = (q.slice(), cache.cache(), false);
    let op = AttentionDecode {
        q: q_slice,
        cache: cache_slices,
        y: y.slice(),
        length,
        shape,
        sinks: None,
        split,
        activation,
        packed_y,
    };
    run(|encoding| attention_decode(encoding, op));
    assert_close(
        "scores of 1e5",
        &y.numbers(),
        &reference(&q.numbers(), &cache, length - 1, &shape),
        ErrorBound::of(activation),
    );
}

#[test]
fn rejects_buffers_and_sizes_that_do_not_fit() {
    let cache = filled(2, 64, 32, Activation::F16, &mut Random::new(1));
    let q = Tensor::new(Type::F32, &[0.0; 256]);
    let y = Tensor::poisoned(Type::F32, 256);
    let (shape, activation) = (shape(4, 64, None, None), Activation::F32);
    let (q, y) = (q.slice(), y.slice());
    let (split, packed_y) = (None, false);
    let op =
        AttentionDecode { q, cache: cache.cache(), y, length: 32, shape, sinks: None, split, activation, packed_y };
    let message = |op| rejected(|encoding| attention_decode(encoding, op));
    assert_eq!(
        message(AttentionDecode { length: 65, ..op }),
        "attention_decode: length is 65, but the cache has room for 64 positions"
    );
    assert_eq!(
        message(AttentionDecode { length: 0, ..op }),
        "attention_decode: length is 0: it must be between 1 and 2147483647"
    );
    assert_eq!(
        message(AttentionDecode { packed_y: true, ..op }),
        "attention_decode: heads of 64 numbers are packed in blocks of 32, with a split"
    );
    let odd = AttentionShape { heads: 3, ..shape };
    assert_eq!(
        message(AttentionDecode { shape: odd, ..op }),
        "attention_decode: 3 heads cannot share 2 of the cache alike"
    );
    let prefill =
        AttentionPrefill { q, cache: cache.cache(), y, tokens: 1, position: 64, shape, sinks: None, activation };
    assert_eq!(
        rejected(|encoding| attention_prefill(encoding, prefill)),
        "attention_prefill: 1 tokens from 64 on, but the cache has room for 64 positions"
    );
    run(|encoding| attention_prefill(encoding, AttentionPrefill { tokens: 0, ..prefill }));
}
