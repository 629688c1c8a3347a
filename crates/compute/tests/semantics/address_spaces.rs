//! Memory in every address space: `kernels/address_spaces.metal`.

use crate::harness::{TestLibrary, elements, expect};
use crate::numbers::Random;
use bytemuck::{Pod, Zeroable};
use half::f16;
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("address_spaces.metal"));

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Params {
    scale: i32,
    padding: i32,
    offset: [f32; 2],
    weights: [f32; 3],
    flags: [u8; 4],
    tail: f16,
    end: [u16; 3],
}

fn params(n: i32) -> Params {
    let (flags, tail) = ([n as u8, 1, 2, 200], f16::from_f32(n as f32 + 0.25));
    let (offset, weights) = ([9.0, n as f32 * 0.5], [7.0, 8.0, n as f32 + 0.125]);
    Params { scale: n * 10, padding: -1, offset, weights, flags, tail, end: [9; 3] }
}

#[test]
fn constant_arguments() {
    let many = [params(3), params(5), params(7)];
    let run = SOURCE.kernel("constant_arguments").bytes(&params(4)).buffer(&many).zeros::<f32>(40);
    expect("constant arguments", &run.threads(40, 32).read::<f32>(2), |i| {
        let mine = &many[i % 3];
        40.0 + 2.0 + mine.weights[2] + f32::from(mine.flags[i & 3]) + mine.tail.to_f32()
    });
}

#[test]
fn one_function_per_space() {
    let device: Vec<i32> = (0..50).collect();
    let run = SOURCE.kernel("one_function_per_space").buffer(&[5, 6]).buffer(&device).zeros::<i32>(50);
    let finished = run.threadgroup_memory(4 * 32).threads(50, 32);
    expect("device", &finished.read::<i32>(1), |i| i as i32 + 3);
    expect("out", &finished.read::<i32>(2), |i| {
        let i = i as i32;
        (5 + (i & 1)) + (i + 3) * 10 + 300 + (i % 32 + 4) * 1000
    });
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Record {
    id: i32,
    gap: [i32; 3],
    position: [f32; 4],
    tag: i8,
    hole: u8,
    values: [i16; 3],
    end: [i32; 2],
}

#[test]
fn device_structs() {
    let record = |k: usize| {
        let (id, n) = (k as i32 * 3, k as f32);
        let (position, values) = ([n, n + 0.5, n * 2.0, -7.0], [k as i16, 1, k as i16 + 4]);
        Record { id, gap: [77; 3], position, tag: k as i8, hole: 88, values, end: [99; 2] }
    };
    let records: Vec<Record> = (0..60).map(record).collect();
    let order: Vec<u32> = (0..60).map(|i| i * 7 % 60).collect();
    let run = SOURCE.kernel("device_structs").buffer(&records).buffer(&order).zeros::<f32>(60);
    let finished = run.threads(60, 32);
    expect("out", &finished.read::<f32>(2), |i| {
        let old = &records[order[i] as usize];
        old.position[2] + old.id as f32 + f32::from(old.tag) + f32::from(old.values[2])
    });
    // Padding is unspecified, but member-wise stores leave it alone.
    let got = finished.read::<Record>(0);
    for (k, old) in records.iter().enumerate() {
        let i = order.iter().position(|o| *o as usize == k).expect("a permutation");
        let mut values = old.values;
        values[i % 3] = old.id as i16;
        assert_eq!((got[k].id, got[k].tag, got[k].values), (old.id + 1, b'x' as i8, values), "record {k}");
        assert_eq!(got[k].position[..3], [old.position[0], old.position[0], old.position[2]], "record {k}");
    }
}

#[test]
fn every_width() {
    let n = 45;
    let mut random = Random::new(31);
    let bytes: Vec<u8> = (0..1024).map(|_| random.next() as u8).collect();
    let out = SOURCE.kernel("every_width").buffer(&bytes).zeros::<u8>(8192).threads(n, 32).read::<u8>(1);
    expect("bytes", &out[..n], |i| bytes[i].wrapping_add(1));
    let u16s: Vec<u16> = elements(&bytes);
    let u32s: Vec<u32> = elements(&bytes);
    let u64s: Vec<u64> = elements(&bytes);
    expect("ushort", &elements::<u16>(&out[256..])[..n], |i| u16s[i].wrapping_add(1));
    expect("uint", &elements::<u32>(&out[1024..])[..n], |i| u32s[i].wrapping_add(1));
    expect("ulong", &elements::<u64>(&out[2048..])[..n], |i| u64s[i].wrapping_add(1));
    expect("uint2", &elements::<[u32; 2]>(&out[3072..])[..n], |i| [u32s[2 * i + 1], u32s[2 * i]]);
    expect("uint4", &elements::<[u32; 4]>(&out[4096..])[..n], |i| [3, 2, 1, 0].map(|k| u32s[4 * i + k]));
    expect("packed ushort3", &elements::<[u16; 3]>(&out[6144..])[..n], |i| [0, 1, 2].map(|k| u16s[3 * i + k]));
    let float3: Vec<[f32; 3]> = elements::<[f32; 4]>(&out[7168..]).iter().map(|v| [v[0], v[1], v[2]]).collect();
    expect("float3", &float3[..n], |i| [f32::from(bytes[i]), 1.0, 2.0]);
}

#[test]
fn access_patterns() {
    let n = 72;
    let mut random = Random::new(32);
    let input: Vec<i32> = (0..300).map(|_| random.below(1000) as i32).collect();
    for stride in [0, 1, 2, 3, 4] {
        let run = SOURCE.kernel("access_patterns").buffer(&input).zeros::<i32>(2 * n).bytes(&(stride as i32));
        let x = |k: usize| input[k];
        expect(&format!("stride {stride}"), &run.threads(n, 32).read::<i32>(1), |k| {
            let i = k / 2;
            if k % 2 == 1 {
                return x(2 * n - i);
            }
            x(i) + 2 * x(n - 1 - i)
                + 3 * x(2 * i)
                + 4 * x(3 * i + 1)
                + 5 * x(i * stride)
                + 6 * x(i ^ 5)
                + 7 * x((x(i) & 63) as usize)
                + 8 * x(7)
                + 9 * x(i / 4)
                + 10 * x(i & 3)
        });
    }
}

#[test]
fn chars_at_odd_places() {
    let n = 50;
    let mut random = Random::new(33);
    let bytes: Vec<i8> = (0..3 * n + 1).map(|_| random.next() as i8).collect();
    let out = SOURCE.kernel("chars_at_odd_places").buffer(&bytes).zeros::<i16>(n).threads(n, 32).read::<i16>(1);
    expect("sums", &out, |i| {
        let [a, b, c] = [1, 2, 3].map(|k| i16::from(bytes[i * 3 + k]));
        a * 2 + b + c + c
    });
}

#[test]
fn pointers_to_pointers() {
    let n = 40;
    let input: Vec<i32> = (0..n as i32 + 1).map(|x| x * 2 % 90).collect();
    let out = SOURCE.kernel("pointers_to_pointers").buffer(&input).zeros::<i32>(n).threads(n, 32).read::<i32>(1);
    expect("sums", &out, |i| input[i + 1] + input[i] * 100 + input[i + (i & 1)] * 10000 + 1);
}

#[test]
fn threadgroup_values() {
    let out = SOURCE.kernel("threadgroup_values").zeros::<i32>(96).groups(3, 32).read::<i32>(0);
    expect("values", &out, |i| {
        let l = i as i32 % 32;
        let other = (l * 7 + 3) & 31;
        other + 1 + other * 2 + other * 3 * 100 + (31 - l) * 100000
    });
}

#[test]
fn one_of_two_buffers() {
    let n = 70;
    let (a, b): (Vec<i32>, Vec<i32>) =
        ((0..n as i32 + 1).collect(), (0..n as i32 + 1).map(|x| 1000 + x * 7).collect());
    let run = SOURCE.kernel("one_of_two_buffers").buffer(&a).buffer(&b).zeros::<i32>(n / 2).zeros::<i32>(n / 2);
    let finished = run.threads(n, 32);
    let expected = |i: usize| {
        let start = if i.is_multiple_of(3) { a[i] } else { b[i] };
        let sum = (0..i % 5).fold(start, |sum, k| sum.wrapping_mul(3) + if k % 2 == 0 { a[k] } else { b[k] });
        sum + if i.is_multiple_of(4) { a[i + 1] } else { b[i] }
    };
    expect("even", &finished.read::<i32>(2), |k| expected(2 * k));
    expect("odd", &finished.read::<i32>(3), |k| expected(2 * k + 1));
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Block {
    scale: f16,
    quants: [u8; 31],
    hole: [u8; 3],
    pair: [i16; 2],
    tail: [f32; 5],
}

impl Block {
    fn weight(&self) -> f32 {
        let sum: u32 = self.quants.iter().zip(1..).map(|(quant, k)| u32::from(*quant) * k).sum();
        sum as f32 * self.scale.to_f32() + f32::from(self.pair[1]) + self.tail[4]
    }

    /// The members, without padding.
    fn members(&self) -> (f16, Vec<u8>, [i16; 2], [f32; 5]) {
        (self.scale, self.quants.to_vec(), self.pair, self.tail)
    }
}

#[test]
fn large_structs() {
    let n = 100;
    let mut random = Random::new(34);
    let mut block = || Block {
        scale: f16::from_f32([0.5, 1.0, 0.25][random.below(3)]),
        quants: [0; 31].map(|_| random.below(100) as u8),
        hole: [0; 3],
        pair: [random.below(100) as i16 - 50, random.below(100) as i16],
        tail: [0; 5].map(|_| random.below(64) as f32 / 4.0),
    };
    let blocks: Vec<Block> = (0..n).map(|_| block()).collect();
    let table: Vec<Block> = (0..3).map(|_| block()).collect();
    let run = SOURCE.kernel("large_structs").buffer(&blocks).zeros::<Block>(n).zeros::<f32>(n).buffer(&table);
    let finished = run.threads(n, 64);
    let changed = |i: usize| {
        let mut mine = blocks[i];
        mine.quants[i % 31] = 200;
        mine
    };
    let copies: Vec<_> = finished.read::<Block>(1).iter().map(Block::members).collect();
    expect("copies", &copies, |i| {
        let (first, size) = (i / 64 * 64, 64.min(n - i / 64 * 64));
        let other = blocks[first + size - 1 - i % 64];
        if i & 1 == 1 { other.members() } else { changed(i).members() }
    });
    expect("weights", &finished.read::<f32>(2), |i| {
        changed(i).weight() + blocks[i].weight() * 2.0 + table[i % 3].weight() * 4.0
    });
}
