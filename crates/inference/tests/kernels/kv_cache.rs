//! `kv_cache.metal`

use crate::cache::Cache;
use crate::compare::repeated;
use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{KvRead, KvWrite, kv_read, kv_write};

#[test]
fn kv_write_and_kv_read_agree_with_the_layout() {
    // Heads, head size, positions: the first and the last, in any order.
    for (heads, dim, positions) in
        [(1, 64, vec![0]), (3, 80, vec![95, 0, 31, 32, 33]), (2, 33, (0..64).collect::<Vec<u32>>())]
    {
        for (activation, ty) in Activation::ALL.into_iter().flat_map(|a| Activation::ALL.map(|ty| (a, ty))) {
            let what = format!("{heads}×{dim} {activation} as {ty}");
            let (capacity, rows, stride) = (96, positions.len(), heads * dim + 5);
            let mut random = Random::new(dim as u64);
            let k = Tensor::new(activation, &random.normals(rows * stride));
            let v = Tensor::new(activation, &random.normals(rows * stride));
            let position_buffer = Tensor::integers(&positions);
            let cache = repeated(&what, Cache::contents, || {
                let cache = Cache::poisoned(heads, dim, capacity, ty);
                let op = KvWrite {
                    k: k.slice(),
                    v: v.slice(),
                    cache: cache.cache(),
                    positions: position_buffer.slice(),
                    rows,
                    k_stride: stride,
                    v_stride: stride,
                    activation,
                };
                run(|encoding| kv_write(encoding, op));
                cache
            });
            let stored = |tensor: &Tensor| {
                let heads: Vec<f64> =
                    tensor.numbers().chunks(stride).flat_map(|row| row[..heads * dim].to_vec()).collect();
                Tensor::new(ty, &heads).numbers()
            };
            assert_eq!(cache.rows(&positions), (stored(&k), stored(&v)), "{what}");

            let (k, v) = (Tensor::poisoned(activation, heads * dim), Tensor::poisoned(activation, heads * dim));
            let op = KvRead {
                cache: cache.cache(),
                k: k.slice(),
                v: v.slice(),
                first: positions[0] as usize,
                count: 1,
                k_stride: heads * dim,
                v_stride: heads * dim,
                activation,
            };
            run(|encoding| kv_read(encoding, op));
            let (keys, values) = cache.rows(&positions);
            let first = |stored: &[f64]| Tensor::new(activation, &stored[..heads * dim]).numbers();
            assert_eq!((k.numbers(), v.numbers()), (first(&keys), first(&values)), "{what}: read again");
        }
    }
}

#[test]
fn positions_beyond_the_capacity_are_not_stored() {
    let cache = Cache::poisoned(2, 64, 32, Activation::F16);
    let rows = Tensor::new(Type::F32, &Random::new(1).normals(3 * 128));
    let positions = Tensor::integers(&[31, 32, u32::MAX]);
    let op = KvWrite {
        k: rows.slice(),
        v: rows.slice(),
        cache: cache.cache(),
        positions: positions.slice(),
        rows: 3,
        k_stride: 128,
        v_stride: 128,
        activation: Activation::F32,
    };
    run(|encoding| kv_write(encoding, op));
    cache.rows(&[31]);
    assert!(
        rejected(|encoding| kv_write(encoding, KvWrite { rows: 4, ..op }))
            .starts_with("kv_write: k has 1536 bytes")
    );
    let message = rejected(|encoding| kv_write(encoding, KvWrite { v_stride: 127, ..op }));
    assert_eq!(message, "kv_write: v: rows of 128 elements, but only 127 from one to the next");
    let mut odd = cache.cache();
    odd.capacity = 31;
    let message = rejected(|encoding| kv_write(encoding, KvWrite { cache: odd, ..op }));
    assert_eq!(message, "kv_write: capacity is 31: it must be a multiple of 32");
    let op = KvRead {
        cache: cache.cache(),
        k: rows.slice(),
        v: rows.slice(),
        first: 31,
        count: 2,
        k_stride: 128,
        v_stride: 128,
        activation: Activation::F32,
    };
    let message = rejected(|encoding| kv_read(encoding, op));
    assert_eq!(message, "kv_read: 2 positions from 31 on, but the cache has 32");
}
