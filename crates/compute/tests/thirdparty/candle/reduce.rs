//! Rows: sums and their relatives, softmax, norms, rotary embeddings.

use super::strides::{pick, places};
use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::run::{Ran, Run};
use half::{bf16, f16};

/// Lengths of rows: within a simdgroup, within some, more than a threadgroup has threads.
const LENGTHS: &[usize] = &[2500, 333, 50, 5, 1];

/// A threadgroup for each row, with a thread for every two elements.
fn by_rows(run: Run<'_>, rows: usize, length: usize) -> Ran<'_> {
    let width = (length / 2).next_power_of_two().min(run.pipeline.max_total_threads_per_threadgroup());
    run.threadgroups((rows, 1, 1), (width, 1, 1))
}

/// A reduction of a row.
type Reduction = (&'static str, fn(&[f64]) -> f64);

const REDUCTIONS: &[Reduction] = &[
    ("fast_sum", |row| row.iter().sum()),
    ("fast_mul", |row| row.iter().product()),
    ("fast_max", |row| row.iter().copied().fold(f64::MIN, f64::max)),
    ("fast_min", |row| row.iter().copied().fold(f64::MAX, f64::min)),
];

pub(super) fn reductions(corpus: &Corpus) {
    for reduction in REDUCTIONS {
        reduce::<f32>(corpus, reduction, LENGTHS, (0.98, 1.02));
        reduce::<f16>(corpus, reduction, &[1, 5, 90], (0.95, 1.05));
        reduce::<bf16>(corpus, reduction, &[1, 5, 40], (0.9, 1.1));
        reduce::<i64>(corpus, reduction, &[1, 5, 50], (1.0, 2.99));
        reduce::<u32>(corpus, reduction, LENGTHS, (0.0, 9.0));
    }
    sum_strided(corpus);
}

fn reduce<T: Number>(corpus: &Corpus, (name, reduction): &Reduction, lengths: &[usize], range: (f64, f64)) {
    for &length in lengths {
        let rows = 3;
        let x: Vec<T> = Random::new(30).numbers(rows * length, range.0, range.1);
        let run = Run::new(corpus, "reduce", format!("{name}_{}", T::NAME));
        let run = run.value((rows * length) as u32).value(2u32).values(&[rows as u32, length as u32]);
        let run = run.value(length as u32).input(&x).output::<T>(rows);
        let exact = |row: &[f64]| match (T::NAME, *name) {
            // Products wrap.
            ("u32", "fast_mul") => row.iter().fold(1u32, |product, x| product.wrapping_mul(*x as u32)).into(),
            ("i64", "fast_mul") => row.iter().fold(1i64, |product, x| product.wrapping_mul(*x as i64)) as f64,
            _ => reduction(row),
        };
        let want: Vec<f64> = values(&x).chunks(length).map(exact).collect();
        // Each thread rounds once for each element that it takes, and each level of the tree once more.
        by_rows(run, rows, length).output::<T>().is_near(&want, 4.0 + length.div_ceil(16) as f64);
    }
}

/// The sums of the columns of a matrix.
fn sum_strided(corpus: &Corpus) {
    let x: Vec<f32> = Random::new(31).numbers(60 * 7, -9.0, 9.0);
    let run = Run::new(corpus, "reduce", "fast_sum_f32_strided").value(420u32).value(2u32);
    let run = run.values(&[7u32, 60]).values(&[1u32, 7]).value(60u32).input(&x).output::<f32>(7);
    let columns = values(&pick(&x, &places(&[7, 60], &[1, 7])));
    let want: Vec<f64> = columns.chunks(60).map(|column| column.iter().sum()).collect();
    by_rows(run, 7, 60).output::<f32>().is_within(&want, 1e-6);
}

pub(super) fn arg_reductions(corpus: &Corpus) {
    arg_reduce::<f32>(corpus);
    arg_reduce::<f16>(corpus);
    arg_reduce::<u8>(corpus);
    arg_reduce::<i64>(corpus);

    // Five dimensions, which the kernel handles by a loop.
    let x: Vec<f32> = Random::new(32).numbers(2 * 3 * 2 * 5 * 41, -9.0, 9.0);
    let (shape, strides) = ([2, 3, 2, 5, 41], [1230, 410, 205, 1, 5]);
    let run = Run::new(corpus, "reduce", "fast_argmax_f32_strided").value(x.len() as u32).value(5u32);
    let run = run.values(&shape.map(|n| n as u32)).values(&strides.map(|n| n as u32)).value(41u32);
    let rows = values(&pick(&x, &places(&shape, &strides)));
    let want: Vec<f64> = rows.chunks(41).map(|row| first(row, |best, x| x > best)).collect();
    by_rows(run.input(&x).output::<u32>(60), 60, 41).output::<u32>().is(&want);
}

/// The first place of the best element.
fn first(row: &[f64], better: fn(f64, f64) -> bool) -> f64 {
    let mut best = 0;
    for (at, x) in row.iter().enumerate() {
        if better(row[best], *x) {
            best = at;
        }
    }
    best as f64
}

/// An ordering: true if a number is better than the best so far.
type Better = (&'static str, fn(f64, f64) -> bool);

fn arg_reduce<T: Number>(corpus: &Corpus) {
    let better: [Better; 2] = [("fast_argmin", |best, x| x < best), ("fast_argmax", |best, x| x > best)];
    for (name, better) in better {
        for length in [1, 5, 50, 333, 2500] {
            let rows = 4;
            let mut random = Random::new(33);
            // Few values: the first of those that are equal counts.
            let x: Vec<T> = (0..rows * length).map(|_| T::from_f64(random.below(40) as f64)).collect();
            let run = Run::new(corpus, "reduce", format!("{name}_{}", T::NAME));
            let run = run.value(x.len() as u32).value(2u32).values(&[rows as u32, length as u32]);
            let run = run.value(length as u32).input(&x).output::<u32>(rows);
            let want: Vec<f64> = values(&x).chunks(length).map(|row| first(row, better)).collect();
            by_rows(run, rows, length).output::<u32>().is(&want);
        }
    }
}

pub(super) fn softmax(corpus: &Corpus) {
    softmax_of::<f32>(corpus, 16.0);
    softmax_of::<f16>(corpus, 8.0);
    softmax_of::<bf16>(corpus, 8.0);
}

fn softmax_of<T: Number>(corpus: &Corpus, units: f64) {
    for &length in LENGTHS {
        let x: Vec<T> = Random::new(34).numbers(3 * length, -4.0, 4.0);
        let run = Run::new(corpus, "reduce", format!("softmax_{}", T::NAME));
        let run = run.value(x.len() as u64).value(length as u64).input(&x).output::<T>(x.len());
        let want: Vec<f64> = values(&x).chunks(length).flat_map(crate::reference::softmax).collect();
        by_rows(run, 3, length).output::<T>().is_within(&want, units * T::EPSILON);
    }
}

pub(super) fn norms(corpus: &Corpus) {
    norms_of::<f32>(corpus);
    norms_of::<f16>(corpus);
    norms_of::<bf16>(corpus);
}

fn norms_of<T: Number>(corpus: &Corpus) {
    const EPSILON: f32 = 1e-3;
    for &length in LENGTHS {
        let mut random = Random::new(35);
        let x: Vec<T> = random.numbers(3 * length, -2.0, 3.0);
        let (alpha, beta): (Vec<T>, Vec<T>) = (random.numbers(length, 0.5, 2.0), random.numbers(length, -1.0, 1.0));
        let (a, b) = (values(&alpha), values(&beta));
        let mean = |row: &[f64]| row.iter().sum::<f64>() / length as f64;

        let run = Run::new(corpus, "reduce", format!("rmsnorm_{}", T::NAME));
        let run = run.value(x.len() as u64).value(length as u64).input(&x).output::<T>(x.len());
        let rms = |row: &[f64]| {
            let squares: Vec<f64> = row.iter().map(|x| x * x).collect();
            let scale = (mean(&squares) + f64::from(EPSILON)).sqrt().recip();
            row.iter().zip(&a).map(|(x, a)| x * scale * a).collect::<Vec<_>>()
        };
        let want: Vec<f64> = values(&x).chunks(length).flat_map(rms).collect();
        by_rows(run.input(&alpha).value(EPSILON), 3, length).output::<T>().is_within(&want, 3.0 * T::EPSILON);

        let run = Run::new(corpus, "reduce", format!("layernorm_{}", T::NAME));
        let run = run.value(x.len() as u64).value(length as u64).input(&x).output::<T>(x.len());
        let layer = |row: &[f64]| {
            let middle = mean(row);
            let squares: Vec<f64> = row.iter().map(|x| (x - middle).powi(2)).collect();
            let scale = (mean(&squares) + f64::from(EPSILON)).sqrt().recip();
            (0..length).map(|at| (row[at] - middle) * scale * a[at] + b[at]).collect::<Vec<_>>()
        };
        let want: Vec<f64> = values(&x).chunks(length).flat_map(layer).collect();
        let ran = by_rows(run.input(&alpha).input(&beta).value(EPSILON), 3, length);
        // A row of one element has no deviation, which makes all errors 30 times as large.
        let units = if length == 1 { 40.0 } else { 4.0 };
        ran.output::<T>().is_within(&want, units * T::EPSILON);
    }
}

/// Batches, heads, positions, and the size of a head.
const ROPE: (usize, usize, usize, usize) = (2, 3, 5, 22);

pub(super) fn rope(corpus: &Corpus) {
    for per_batch in [false, true] {
        rope_of::<f32>(corpus, per_batch);
        rope_of::<f16>(corpus, per_batch);
        rope_of::<bf16>(corpus, per_batch);
    }
}

fn rope_of<T: Number>(corpus: &Corpus, per_batch: bool) {
    let (batches, heads, positions, size) = ROPE;
    let (half, count) = (size / 2, batches * heads * positions * size);
    let mut random = Random::new(36);
    let x: Vec<T> = random.numbers(count, -2.0, 2.0);
    let tables = if per_batch { batches } else { 1 };
    let (cos, sin): (Vec<T>, Vec<T>) = (
        random.numbers(tables * positions * half, -1.0, 1.0),
        random.numbers(tables * positions * half, -1.0, 1.0),
    );
    let stride = if per_batch { heads * positions * size } else { 0 };
    // Locations of a head's pairs, for a tensor of batch, head, position or of batch, position, head.
    let reference = |pair: fn(usize, usize) -> (usize, usize), position_last: bool| {
        let (x, c, s) = (values(&x), values(&cos), values(&sin));
        let mut want = vec![0.0; count];
        for row in 0..batches * heads * positions {
            let batch = row / (heads * positions);
            let position = if position_last { row / heads % positions } else { row % positions };
            for at in 0..half {
                let table = (if per_batch { batch * positions } else { 0 } + position) * half + at;
                let (first, second) = pair(at, half);
                let (x0, x1) = (x[row * size + first], x[row * size + second]);
                want[row * size + first] = x0 * c[table] - x1 * s[table];
                want[row * size + second] = x0 * s[table] + x1 * c[table];
            }
        }
        want
    };
    let finish = |run: Run, want: &[f64]| {
        let run = run.input(&x).input(&cos).input(&sin).output::<T>(count);
        run.linear(count / 2).output::<T>().is_within(want, 2.0 * T::EPSILON);
    };
    let (bh, td) = ((batches * heads) as u64, (positions * size) as u64);
    let run = Run::new(corpus, "reduce", format!("rope_i_{}", T::NAME)).value(bh).value(td).value(stride as u64);
    finish(run, &reference(|at, _| (2 * at, 2 * at + 1), false));
    let run = Run::new(corpus, "reduce", format!("rope_{}", T::NAME)).value(bh).value(td);
    finish(run.value(size as u64).value(stride as u64), &reference(|at, half| (at, at + half), false));
    let run = Run::new(corpus, "reduce", format!("rope_thd_{}", T::NAME)).value(batches as u64);
    let run = run.value(positions as u64).value(heads as u64).value(size as u64).value(stride as u64);
    finish(run, &reference(|at, half| (at, at + half), true));
}
