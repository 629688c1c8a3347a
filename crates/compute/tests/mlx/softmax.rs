//! Softmax and log-sum-exp of rows, one threadgroup a row.

use crate::array::{Array, DType};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::random::Random;

const ROWS: usize = 5;

/// Rows that fit a threadgroup (`block_`, four elements a thread) and rows that do not (`looped_`, 1,024 threads).
fn row_and_threads(name: &str) -> (usize, usize) {
    if name.starts_with("looped") { (4999, 1024) } else { (333, 96) }
}

fn rows(name: &str, dtype: DType, row: usize) -> Array {
    Random::new(name).array(dtype, ROWS * row, -6.0, 6.0)
}

fn case(name: &str, input: &Array, expected: Vec<f64>, tolerance: Tolerance) -> Case {
    let (row, threads) = row_and_threads(name);
    Case::new(name, CaseGrid::Threadgroups([ROWS, 1, 1], [threads, 1, 1]))
        .input(input)
        .bind(Argument::float_output(input.dtype, expected, tolerance))
        .bind(Argument::int(row as i32))
}

pub(crate) fn softmax() -> impl Iterator<Item = Case> {
    ["block_softmax_", "looped_softmax_"].into_iter().flat_map(harness_names).map(|(name, dtype)| {
        let (row, _) = row_and_threads(&name);
        let input = rows(&name, dtype, row);
        let expected = (0..ROWS).flat_map(|index| {
            let exponentials: Vec<f64> = (0..row).map(|at| input.float(index * row + at).exp()).collect();
            let sum: f64 = exponentials.iter().sum();
            exponentials.into_iter().map(move |exponential| exponential / sum)
        });
        // Unless it is the precise kernel, all is computed in the type itself: the sum of hundreds of terms, too.
        let tolerance = match dtype {
            DType::Float32 => Tolerance::ulps(64.0),
            _ if name.contains("precise") => Tolerance::ulps(1.0).and_absolute(1e-7),
            _ => Tolerance::ulps(24.0).and_absolute(1e-6),
        };
        case(&name, &input, expected.collect(), tolerance)
    })
}

pub(crate) fn log_sum_exp() -> impl Iterator<Item = Case> {
    ["block_logsumexp_", "looped_logsumexp_"].into_iter().flat_map(harness_names).map(|(name, dtype)| {
        let (row, _) = row_and_threads(&name);
        let input = rows(&name, dtype, row);
        let expected =
            (0..ROWS).map(|index| (0..row).map(|at| input.float(index * row + at).exp()).sum::<f64>().ln());
        case(&name, &input, expected.collect(), Tolerance::ulps(if dtype == DType::Float32 { 16.0 } else { 1.0 }))
    })
}

fn harness_names(prefix: &'static str) -> impl Iterator<Item = (String, DType)> {
    harness::names(prefix).into_iter().filter_map(|name| {
        let dtype = DType::suffix(&name)?.1;
        Some((name, dtype))
    })
}
