//! `kv_cache.metal`

use crate::cache::Cache;
use crate::compare::repeated;
use crate::device::{rejected, run};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, CacheType, dequantize, quantize};
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

#[test]
fn blocks_are_those_of_the_formats() {
    let (heads, dim, capacity) = (2, 96, 64);
    let positions: Vec<u32> = (0..40).rev().collect();
    let (rows, width) = (positions.len(), heads * dim);
    for (activation, ty) in
        Activation::ALL.into_iter().flat_map(|a| [CacheType::Q8_0, CacheType::Q4_0].map(|ty| (a, ty)))
    {
        let what = format!("{activation} as {ty}");
        let mut random = Random::new(3);
        let numbers = |random: &mut Random| {
            let mut numbers = random.normals(rows * width);
            // A block of zeros, and one of small numbers.
            numbers[..32].fill(0.0);
            numbers[32..64].iter_mut().for_each(|number| *number *= 1e-3);
            Tensor::new(activation, &numbers)
        };
        let (k, v) = (numbers(&mut random), numbers(&mut random));
        let position_buffer = Tensor::integers(&positions);
        let cache = repeated(&what, Cache::contents, || {
            let cache = Cache::poisoned(heads, dim, capacity, ty);
            let op = KvWrite {
                k: k.slice(),
                v: v.slice(),
                cache: cache.cache(),
                positions: position_buffer.slice(),
                rows,
                k_stride: width,
                v_stride: width,
                activation,
            };
            run(|encoding| kv_write(encoding, op));
            cache
        });
        let block_size = ty.keys().block_size();
        let (keys, values) = (cache.keys.contents(), cache.values.contents());
        let [expected_keys, expected_values] = [&k, &v].map(|tensor| {
            let numbers: Vec<f32> = tensor.numbers().into_iter().map(|number| number as f32).collect();
            quantize(ty.keys(), &numbers).expect("they are whole blocks")
        });
        let blocks = dim / 32;
        for (row, &position) in positions.iter().enumerate() {
            for (head, block) in (0..heads).flat_map(|head| (0..blocks).map(move |block| (head, block))) {
                let at = ((row * heads + head) * blocks + block) * block_size;
                let value = ((head * capacity + position as usize) * blocks + block) * block_size;
                let stored = &values[value..value + block_size];
                assert_eq!(stored, &expected_values[at..at + block_size], "{what}: value of {position}");
                // Scales of 32 positions, then their numbers side by side.
                let tile = (head * capacity + position as usize) / 32 * blocks + block;
                let (tile, lane) = (&keys[tile * 32 * block_size..][..32 * block_size], position as usize % 32);
                let scale = tile[2 * lane..2 * lane + 2].iter().copied();
                let stored: Vec<u8> = scale.chain(tile[64..].iter().skip(lane).step_by(32).copied()).collect();
                assert_eq!(stored, expected_keys[at..at + block_size], "{what}: key of {position}");
            }
        }

        let (k, v) = (Tensor::poisoned(Type::F32, rows * width), Tensor::poisoned(Type::F32, rows * width));
        let op = KvRead {
            cache: cache.cache(),
            k: k.slice(),
            v: v.slice(),
            first: 0,
            count: rows,
            k_stride: width,
            v_stride: width,
            activation: Activation::F32,
        };
        run(|encoding| kv_read(encoding, op));
        for (read, expected) in [(k, expected_keys), (v, expected_values)] {
            // Rows were written from the last position on.
            let expected = dequantize(ty.keys(), &expected);
            let expected: Vec<f64> = expected.chunks(width).rev().flat_map(|row| row.to_vec()).collect();
            assert_eq!(read.numbers(), Tensor::new(Type::F32, &expected).numbers(), "{what}: read again");
        }
    }
    let odd = Cache::poisoned(1, 64, 32, Activation::F16);
    let mut odd = odd.cache();
    (odd.head_dim, odd.ty) = (48, CacheType::Q8_0);
    let rows = Tensor::new(Type::F32, &[0.0; 48]);
    let op = KvWrite {
        k: rows.slice(),
        v: rows.slice(),
        cache: odd,
        positions: rows.slice(),
        rows: 1,
        k_stride: 48,
        v_stride: 48,
        activation: Activation::F32,
    };
    let message = rejected(|encoding| kv_write(encoding, op));
    assert_eq!(message, "kv_write: heads of 48 numbers are not whole blocks of q8_0");
}

#[test]
fn blocks_with_a_nan_are_nan() {
    for ty in [CacheType::Q8_0, CacheType::Q4_0] {
        let mut numbers = Random::new(5).normals(64);
        (numbers[7], numbers[40]) = (f64::NAN, f64::INFINITY);
        let (row, cache) = (Tensor::new(Type::F32, &numbers), Cache::poisoned(1, 64, 32, ty));
        let positions = Tensor::integers(&[0]);
        let op = KvWrite {
            k: row.slice(),
            v: row.slice(),
            cache: cache.cache(),
            positions: positions.slice(),
            rows: 1,
            k_stride: 64,
            v_stride: 64,
            activation: Activation::F32,
        };
        run(|encoding| kv_write(encoding, op));
        let block = ty.keys().block_size();
        let values = dequantize(ty.keys(), &cache.values.contents()[..2 * block]);
        assert!(values.iter().all(|value| value.is_nan()), "{ty}: {values:?}");
    }
}
