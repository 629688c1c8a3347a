//! 8×8 matrices that a simdgroup holds together: `kernels/simdgroup_matrices.metal`.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;
use crate::values::Value;
use half::{bf16, f16};
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("simdgroup_matrices.metal"));

/// Small whole numbers: exact in every type, and so are their products and sums.
fn numbers(seed: u64, count: usize, below: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(below) as f32 - (below / 2) as f32).collect()
}

fn product<T: Value, A: Value>(kernel: &str, from: fn(f32) -> T, to: fn(A) -> f32) {
    let (m, n, k) = (16, 24, 40);
    let (a, b) = (numbers(81, m * k, 9), numbers(82, k * n, 9));
    let narrow = |values: &[f32]| values.iter().map(|x| from(*x)).collect::<Vec<T>>();
    let run = SOURCE.kernel(kernel).buffer(&narrow(&a)).buffer(&narrow(&b)).zeros::<A>(m * n);
    let c = run.bytes(&[m as u32, n as u32, k as u32, 0]).groups([n / 8, m / 8], 32).read::<A>(2);
    let c: Vec<f32> = c.into_iter().map(to).collect();
    expect(kernel, &c, |i| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum::<f32>());
}

#[test]
fn products() {
    product::<f32, f32>("product_f32", |x| x, |x| x);
    product::<f16, f32>("product_f16", f16::from_f32, |x| x);
    product::<f16, f16>("product_f16_f16", f16::from_f32, f16::to_f32);
    product::<bf16, f32>("product_bf16", bf16::from_f32, |x| x);
}

#[test]
fn loads_and_stores() {
    let input: Vec<f32> = (0..256).map(|x| x as f32).collect();
    let out = SOURCE.kernel("loads_and_stores").buffer(&input).zeros::<f32>(640).threads(32, 32).read::<f32>(1);
    let (row, column) = (|i: usize| i / 8, |i: usize| i % 8);
    expect("as it is", &out[..64], |i| i as f32);
    expect("with a stride", &out[64..128], |i| (row(i) * 16 + column(i)) as f32);
    expect("transposed", &out[128..192], |i| (column(i) * 16 + row(i)) as f32);
    expect("with an origin", &out[192..256], |i| ((row(i) + 3) * 16 + column(i) + 5) as f32);
    expect("stored transposed", &out[256..320], |i| (column(i) * 8 + row(i)) as f32);
    expect("stored with an origin", &out[320..480], |i| match (i / 16, i % 16) {
        (r @ 1..9, c @ 8..16) => ((r - 1) * 8 + c - 8) as f32,
        _ => 0.0,
    });
    expect("from threadgroup memory", &out[480..544], |i| (3 + row(i) * 20 + column(i)) as f32 + 0.5);
    let transposed = |r: usize, c: usize| ((c + 2) * 8 + r) as f32 + 0.5;
    expect("through threadgroup memory", &out[544..616], |i| match (i / 9, i % 9) {
        // The elements after a row are unchanged.
        (_, 8) => i as f32 + 0.5,
        (r, c) => transposed(r, c),
    });
}

#[test]
fn elements() {
    let input: Vec<f32> = (0..64).map(|x| x as f32).collect();
    let run = SOURCE.kernel("elements").buffer(&input).zeros::<f32>(64).zeros::<u32>(64);
    let finished = run.threads(32, 32);
    expect("changed", &finished.read::<f32>(1), |i| i as f32 * 2.0 + 1.0);
    let mut places = finished.read::<u32>(2);
    // As on Apple's GPUs: two neighbours of a row, and rows of lanes in the order of a Z.
    expect("places", &places, |i| {
        let (lane, which) = (i as u32 / 2, i as u32 % 2);
        let quad = lane / 4;
        let row = (quad & 4) + lane / 2 % 4;
        let column = (quad & 2) * 2 + lane % 2 * 2 + which;
        row * 8 + column
    });
    places.sort_unstable();
    expect("each once", &places, |i| i as u32);
}

#[test]
fn arithmetic() {
    let input: Vec<f16> = numbers(83, 128, 17).into_iter().map(f16::from_f32).collect();
    let out = SOURCE.kernel("arithmetic").buffer(&input).zeros::<f16>(256).threads(32, 32).read::<f16>(1);
    let (a, b) = (|i: usize| input[i].to_f32(), |i: usize| input[64 + i].to_f32());
    let identity = |i: usize| if i / 8 == i % 8 { 1.0 } else { 0.0 };
    let out: Vec<f32> = out.into_iter().map(f16::to_f32).collect();
    expect("a * 2", &out[..64], |i| a(i) * 2.0);
    expect("a * 1", &out[64..128], a);
    expect("1 * 1 + b", &out[128..192], |i| identity(i) + b(i));
    expect("b * 1 + 1", &out[192..], |i| identity(i) + b(i));
}

#[test]
fn staged_through_threadgroup_memory() {
    for k in [8, 64] {
        let (a, b) = (numbers(84, 16 * k, 9), numbers(85, k * 16, 9));
        let run = SOURCE.kernel("staged").buffer(&a).buffer(&b).zeros::<f32>(256).bytes(&(k as u32));
        let c = run.groups(1, 128).read::<f32>(2);
        expect(&format!("K = {k}"), &c, |i| (0..k).map(|j| a[i / 16 * k + j] * b[j * 16 + i % 16]).sum::<f32>());
    }
}
