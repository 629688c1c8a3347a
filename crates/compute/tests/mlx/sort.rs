//! Sorts: of rows that fit a threadgroup, and of longer ones by sorting blocks and merging them.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::names::number;
use crate::random::Random;
use std::cmp::Ordering;

/// NaN comes last.
fn order(a: Scalar, b: Scalar) -> Ordering {
    let float = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a.cmp(&b),
        (Scalar::Float(a), Scalar::Float(b)) => float(a, b),
        (a, b) if complex::less(a.complex(), b.complex()) => Ordering::Less,
        (a, b) if a == b => Ordering::Equal,
        _ => Ordering::Greater,
    }
}

/// Elements from all of the type's range, some of them equal, some NaN.
fn values(name: &str, dtype: DType, length: usize) -> Array {
    let mut random = Random::new(name);
    let (low, high) = dtype.range_or_zero();
    let mut array = match dtype.is_integer() {
        true => random.array(dtype, length, low as f64, high as f64),
        false => random.coarse(dtype, length, -100.0, 100.0, 0.5),
    };
    if dtype.is_float() {
        array.values[length / 3] = Scalar::Float(f64::NAN);
        array.values[length / 2] = Scalar::Float(f64::NEG_INFINITY);
    }
    array
}

/// The places of the elements in sorted order, equal ones in the order they had.
fn sorted(input: &Array, places: &[usize]) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..places.len()).collect();
    ranks.sort_by(|a, b| order(input.values[places[*a]], input.values[places[*b]]));
    ranks
}

/// The output of a sort of `places`: the elements, or their ranks.
fn results(input: &Array, places: &[usize], is_arg: bool) -> Vec<Scalar> {
    let ranks = sorted(input, places).into_iter();
    ranks.map(|rank| if is_arg { Scalar::Int(rank as i128) } else { input.values[places[rank]] }).collect()
}

fn types(name: &str) -> Option<(DType, DType)> {
    let mut types = name.rsplit("sort_").next()?.split("_bn").next()?.split('_').filter_map(DType::named);
    Some((types.next()?, types.next()?))
}

/// Rows of a matrix, a threadgroup each, one element short of or far below what a threadgroup sorts.
pub(crate) fn rows(prefix: &'static str) -> impl Iterator<Item = Case> {
    harness::names(prefix).into_iter().filter_map(move |name| {
        let (input_type, output_type) = types(&name)?;
        let threads = number(&name, "bn")?;
        let row = if threads > 64 { 4 * threads - 1 } else { 2 * threads + 9 };
        let (rows, stride) = (3, row + 2);
        let input = values(&name, input_type, rows * stride);
        let is_arg = prefix.contains("arg");
        let expected = (0..rows).flat_map(|index| {
            let places: Vec<usize> = (0..row).map(|at| index * stride + at).collect();
            results(&input, &places, is_arg)
        });
        let case = Case::new(&name, CaseGrid::Threadgroups([1, rows, 1], [threads, 1, 1]))
            .input(&input)
            .bind(Argument::output(output_type, expected.collect::<Vec<_>>(), Tolerance::EXACT))
            .bind(Argument::int(row as i32))
            .bind(Argument::int(1))
            .bind(Argument::int(1));
        Some(if prefix.starts_with("nc") {
            case.bind(Argument::int(1))
                .bind(Argument::ints(&[rows as i32]))
                .bind(Argument::longs(&[stride as i64]))
                .bind(Argument::longs(&[row as i64]))
        } else {
            case.bind(Argument::int(stride as i32)).bind(Argument::int(row as i32))
        })
    })
}

/// Elements of two and a half blocks.
fn long_row(name: &str) -> Option<(DType, usize, usize, Array)> {
    let (dtype, _) = types(name)?;
    let threads = number(name, "bn")?;
    let block = threads * number(name, "tn")?;
    Some((dtype, threads, block, values(name, dtype, 2 * block + block / 2)))
}

/// Sorts each block of a long row.
pub(crate) fn blocks() -> impl Iterator<Item = Case> {
    harness::names("sort_mbsort_").into_iter().filter_map(|name| {
        let (dtype, threads, block, input) = long_row(&name)?;
        let (values, ranks) = sorted_blocks(&input, block);
        let length = input.values.len();
        let case = Case::new(&name, CaseGrid::Threadgroups([3, 1, 1], [threads, 1, 1]))
            .input(&input)
            .bind(Argument::output(dtype, values, Tolerance::EXACT))
            .bind(Argument::output(DType::Uint32, ranks, Tolerance::EXACT))
            .bind(Argument::int(length as i32))
            .bind(Argument::int(1))
            .bind(Argument::int(1))
            .bind(Argument::ints(&[1]))
            .bind(Argument::longs(&[length as i64]));
        Some(case)
    })
}

fn sorted_blocks(input: &Array, block: usize) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut values, mut ranks) = (Vec::new(), Vec::new());
    for start in (0..input.values.len()).step_by(block) {
        let places: Vec<usize> = (start..(start + block).min(input.values.len())).collect();
        values.extend(results(input, &places, false));
        ranks.extend(results(input, &places, true).iter().map(|rank| Scalar::Int(rank.int() + start as i128)));
    }
    (values, ranks)
}

/// Number of elements of the first block in the first half of the merged pair: of the 2 · `block` elements of two
/// sorted blocks, the smallest `block`; and so on for a block without a partner.
fn partitions(values: &[Scalar], block: usize) -> Vec<usize> {
    let from_first = |first: &[Scalar], second: &[Scalar], count: usize| {
        let mut taken = (0, 0);
        while taken.0 + taken.1 < count {
            let second_is_next = match (first.get(taken.0), second.get(taken.1)) {
                (Some(a), Some(b)) => order(*b, *a).is_lt(),
                (first, _) => first.is_none(),
            };
            if second_is_next { taken.1 += 1 } else { taken.0 += 1 }
        }
        taken.0
    };
    let (first, rest) = values.split_at(block);
    let (second, third) = rest.split_at(block);
    let alone = 2 * block;
    vec![0, from_first(first, second, block), alone, alone + third.len()]
}

/// Cut positions for the merge of pairs of sorted blocks.
pub(crate) fn cuts() -> impl Iterator<Item = Case> {
    harness::names("partition_mbsort_").into_iter().filter_map(|name| {
        let (dtype, _, block, input) = long_row(&name)?;
        let (values, ranks) = sorted_blocks(&input, block);
        let expected = partitions(&values, block).into_iter().map(|cut| Scalar::Int(cut as i128));
        let case = Case::new(&name, CaseGrid::Threadgroups([1, 1, 1], [4, 1, 1]))
            .bind(Argument::output(DType::Uint32, expected, Tolerance::EXACT))
            .input(&Array::new(dtype, values))
            .input(&Array::new(DType::Uint32, ranks))
            .bind(Argument::int(input.values.len() as i32))
            .bind(Argument::int(2))
            .bind(Argument::int(3));
        Some(case)
    })
}

/// The first two blocks become one; the third stays.
pub(crate) fn merges() -> impl Iterator<Item = Case> {
    harness::names("merge_mbsort_").into_iter().filter_map(|name| {
        let (dtype, threads, block, input) = long_row(&name)?;
        let (values, ranks) = sorted_blocks(&input, block);
        let cuts = partitions(&values, block).into_iter().map(|cut| cut as i128);
        let (merged_values, merged_ranks) = sorted_blocks(&input, 2 * block);
        let case = Case::new(&name, CaseGrid::Threadgroups([3, 1, 1], [threads, 1, 1]))
            .input(&Array::ints(DType::Uint32, cuts))
            .input(&Array::new(dtype, values))
            .input(&Array::new(DType::Uint32, ranks))
            .bind(Argument::output(dtype, merged_values, Tolerance::EXACT))
            .bind(Argument::output(DType::Uint32, merged_ranks, Tolerance::EXACT))
            .bind(Argument::int(input.values.len() as i32))
            .bind(Argument::int(2))
            .bind(Argument::int(3));
        Some(case)
    })
}
