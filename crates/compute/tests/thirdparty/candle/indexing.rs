//! Elements picked and put by indices.

use super::strides::{pick, places};
use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::Run;
use half::{bf16, f16};

/// A tensor of left × dimension × right, of which the middle is indexed.
const LEFT: usize = 3;
const DIMENSION: usize = 7;
const RIGHT: usize = 13;

/// Random indices below `end`, some of them the one that means "none".
fn indices<I: Number>(random: &mut Random, count: usize, end: usize, none: Option<I>) -> Vec<I> {
    let index = |at: usize| match none {
        Some(none) if at % 5 == 2 => none,
        _ => I::from_f64(random.below(end) as f64),
    };
    (0..count).map(index).collect()
}

pub(super) fn index_select(corpus: &Corpus) {
    index_select_of::<u32, f32>(corpus, u32::MAX);
    index_select_of::<u8, f16>(corpus, u8::MAX);
    index_select_of::<i64, bf16>(corpus, i64::MAX);

    // candle takes the extent of the dimension for the number of dimensions: they agree when both are 2.
    let x: Vec<f32> = Random::new(20).numbers(2 * 9, -9.0, 9.0);
    let run = Run::new(corpus, "indexing", "is_u32_f32").sizes(&[27, 1, 2, 9, 3]).flag(false);
    let run = run.values(&[2u64, 9]).values(&[1u64, 2]).input(&x).input(&[1u32, 0, 1]).output::<f32>(27);
    let rows = pick(&x, &places(&[2, 9], &[1, 2]));
    let want = values(&[&rows[9..], &rows[..9], &rows[9..]].concat());
    run.linear(27).output::<f32>().is(&want);
}

fn index_select_of<I: Number, T: Number>(corpus: &Corpus, none: I) {
    let mut random = Random::new(21);
    let x: Vec<T> = random.numbers(LEFT * DIMENSION * RIGHT, -9.0, 9.0);
    let ids = indices(&mut random, 11, DIMENSION, Some(none));
    let count = LEFT * 11 * RIGHT;
    let run = Run::new(corpus, "indexing", format!("is_{}_{}", I::NAME, T::NAME));
    let run = run.sizes(&[count, LEFT, DIMENSION, RIGHT, 11]).flag(true);
    let run = run.values(&[LEFT as u64, DIMENSION as u64, RIGHT as u64]).values(&[0u64; 3]);
    let want: Vec<f64> = (0..count)
        .map(|at| {
            let (left, id, right) = (at / RIGHT / 11, ids[at / RIGHT % 11].to_f64(), at % RIGHT);
            if id == none.to_f64() { 0.0 } else { x[(left * DIMENSION + id as usize) * RIGHT + right].to_f64() }
        })
        .collect();
    run.input(&x).input(&ids).output::<T>(count).linear(count).output::<T>().is(&want);
}

pub(super) fn gather(corpus: &Corpus) {
    gather_of::<u32, f32>(corpus, u32::MAX);
    gather_of::<i64, f16>(corpus, i64::MAX);
    gather_of::<u8, i64>(corpus, u8::MAX);
}

fn gather_of<I: Number, T: Number>(corpus: &Corpus, none: I) {
    let mut random = Random::new(22);
    let x: Vec<T> = random.numbers(LEFT * DIMENSION * RIGHT, -99.0, 99.0);
    let count = LEFT * 5 * RIGHT;
    let ids = indices(&mut random, count, DIMENSION, Some(none));
    let run = Run::new(corpus, "indexing", format!("gather_{}_{}", I::NAME, T::NAME));
    let run = run.sizes(&[count, LEFT, DIMENSION, RIGHT, 5]).input(&x).input(&ids).output::<T>(count);
    let want: Vec<f64> = (0..count)
        .map(|at| {
            let (left, id, right) = (at / RIGHT / 5, ids[at].to_f64(), at % RIGHT);
            if id == none.to_f64() { 0.0 } else { x[(left * DIMENSION + id as usize) * RIGHT + right].to_f64() }
        })
        .collect();
    run.linear(count).output::<T>().is(&want);
}

pub(super) fn scatter(corpus: &Corpus) {
    scatter_of::<u32, f32>(corpus, "s", u32::MAX);
    scatter_of::<u8, f16>(corpus, "s", u8::MAX);
    scatter_of::<u32, f32>(corpus, "sa", u32::MAX);
    scatter_of::<i64, bf16>(corpus, "sa", i64::MAX);
}

fn scatter_of<I: Number, T: Number>(corpus: &Corpus, name: &str, none: I) {
    const TO: usize = 10;
    let mut random = Random::new(23);
    // Small integers, of which sums are exact.
    let mut whole = |count| -> Vec<T> { (0..count).map(|_| T::from_f64(random.below(9) as f64)).collect() };
    let (x, y) = (whole(LEFT * DIMENSION * RIGHT), whole(LEFT * TO * RIGHT));
    let ids = indices(&mut random, x.len(), TO, Some(none));
    let run = Run::new(corpus, "indexing", format!("{name}_{}_{}", I::NAME, T::NAME));
    let run = run.sizes(&[LEFT * RIGHT, LEFT, DIMENSION, RIGHT, TO]).input(&x).input(&ids).in_out(&y);
    let mut want = values(&y);
    for (at, (x, id)) in values(&x).into_iter().zip(values(&ids)).enumerate() {
        if id != none.to_f64() {
            let to = &mut want[(at / RIGHT / DIMENSION * TO + id as usize) * RIGHT + at % RIGHT];
            *to = if name == "s" { x } else { *to + x };
        }
    }
    run.linear(LEFT * RIGHT).output::<T>().is(&want);
}

pub(super) fn index_add(corpus: &Corpus) {
    index_add_of::<u32, f32>(corpus, u32::MAX);
    index_add_of::<i64, i64>(corpus, i64::MAX);
    index_add_of::<u8, u8>(corpus, u8::MAX);
}

fn index_add_of<I: Number, T: Number>(corpus: &Corpus, none: I) {
    const TO: usize = 10;
    let mut random = Random::new(24);
    let mut whole = |count| -> Vec<T> { (0..count).map(|_| T::from_f64(random.below(9) as f64)).collect() };
    let (x, y) = (whole(LEFT * DIMENSION * RIGHT), whole(LEFT * TO * RIGHT));
    let ids = indices(&mut random, DIMENSION, TO, Some(none));
    let run = Run::new(corpus, "indexing", format!("ia_{}_{}", I::NAME, T::NAME));
    let run = run.sizes(&[LEFT * RIGHT, LEFT, DIMENSION, RIGHT, TO, DIMENSION]).input(&x).input(&ids).in_out(&y);
    let mut want = values(&y);
    for (at, x) in values(&x).into_iter().enumerate() {
        let id = ids[at / RIGHT % DIMENSION].to_f64();
        if id != none.to_f64() {
            want[(at / RIGHT / DIMENSION * TO + id as usize) * RIGHT + at % RIGHT] += x;
        }
    }
    run.linear(LEFT * RIGHT).output::<T>().is(&want);
}
