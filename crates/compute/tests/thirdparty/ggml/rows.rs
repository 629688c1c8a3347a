//! Rows: norms, softmax, sums, orders.

use crate::corpus::Corpus;
use crate::numbers::{Random, values};
use crate::reference::{ascending, softmax as softmax_of};
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::f16;
use metalworks_compute::ConstantValue::{Bool, Short};

/// Threads for rows of `count` elements: whole simdgroups, at most 1,024 threads.
fn threads(count: usize) -> usize {
    count.next_power_of_two().clamp(32, 1024)
}

fn mean(row: &[f64]) -> f64 {
    row.iter().sum::<f64>() / row.len() as f64
}

/// A row with mean 0 and deviation 1, or with root mean square 1.
fn normalized(row: &[f64], epsilon: f64, centered: bool) -> Vec<f64> {
    let middle = if centered { mean(row) } else { 0.0 };
    let squares: Vec<f64> = row.iter().map(|x| (x - middle).powi(2)).collect();
    let scale = (mean(&squares) + epsilon).sqrt().recip();
    row.iter().map(|x| (x - middle) * scale).collect()
}

pub(super) fn norms(corpus: &Corpus) {
    for name in ["norm", "rms_norm"] {
        for (suffix, fused) in [("", 1), ("_mul", 2), ("_mul_add", 3)] {
            for length in [1, 33, 500, 4100] {
                norm(corpus, &format!("kernel_{name}{suffix}_f32"), length, 1, fused, name == "norm");
            }
            for length in [4, 132, 5000] {
                norm(corpus, &format!("kernel_{name}{suffix}_f32_4"), length, 4, fused, name == "norm");
            }
        }
    }
    l2_norm(corpus);
    group_norm(corpus);
}

fn norm(corpus: &Corpus, kernel: &str, length: usize, width: usize, fused: usize, centered: bool) {
    const EPSILON: f64 = 1e-3;
    let from = Tensor::of::<f32>([length, 3, 2, 1]).with_gaps([16, 32, 0]);
    // One row of factors for each matrix, and one of terms for all.
    let (factor, term) = (Tensor::of::<f32>([length, 1, 2, 1]), Tensor::of::<f32>([length, 1, 1, 1]));
    let to = Tensor::of::<f32>([length, 3, 2, 1]);
    let mut random = Random::new(110);
    let x: Vec<f32> = random.numbers(from.len(), -2.0, 3.0);
    let (a, b): (Vec<f32>, Vec<f32>) =
        (random.numbers(factor.len(), 0.5, 2.0), random.numbers(term.len(), -1.0, 1.0));
    let of_all = |of: fn(&Tensor) -> usize| [of(&from), of(&factor), of(&term)];
    let fields = Fields::new()
        .tensor("", &to)
        .set("ne00", length)
        .set("ne00_t", length / width)
        .set("eps", EPSILON)
        .array("nef1", &of_all(|tensor| tensor.ne[1]))
        .array("nef2", &of_all(|tensor| tensor.ne[2]))
        .array("nef3", &of_all(|tensor| tensor.ne[3]))
        .array("nbf1", &of_all(|tensor| tensor.nb[1]))
        .array("nbf2", &of_all(|tensor| tensor.nb[2]))
        .array("nbf3", &of_all(|tensor| tensor.nb[3]))
        .set("scale", 1.0);
    let run = Run::with_constants(corpus, "norm", kernel, &[(1700, Bool(false))]).structure(&fields);
    let run = run.input(&from.lay_out(&x)).input(&a).input(&b).output::<f32>(to.len()).threadgroup_memory(128);
    let ran = run.threadgroups((3, 2, 1), (threads(length / width), 1, 1));
    let want: Vec<f64> = values(&x)
        .chunks(length)
        .enumerate()
        .flat_map(|(row, numbers)| {
            let factors: Vec<f64> = values(&a[row / 3 * length..][..length]);
            let fuse = move |(at, x): (usize, f64), b: &[f32]| match fused {
                1 => x,
                2 => x * factors[at],
                _ => x * factors[at] + f64::from(b[at]),
            };
            let row = normalized(numbers, EPSILON, centered);
            row.into_iter().enumerate().map(|one| fuse(one, &b)).collect::<Vec<_>>()
        })
        .collect();
    // One element alone has no deviation, which makes all errors 30 times as large.
    ran.output::<f32>().is_within(&want, if length == 1 { 2e-5 } else { 1e-6 });
}

fn l2_norm(corpus: &Corpus) {
    let tensor = Tensor::of::<f32>([300, 2, 3, 1]).with_gaps([16, 0, 0]);
    let x: Vec<f32> = Random::new(111).numbers(tensor.len(), -2.0, 3.0);
    let want: Vec<f64> = values(&x)
        .chunks(300)
        .flat_map(|row| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter().map(move |x| x / length)
        })
        .collect();
    for (kernel, count) in [("kernel_l2_norm_f32_f32", 300), ("kernel_l2_norm_f32_f32_4", 75)] {
        let to = Tensor::of::<f32>(tensor.ne);
        let fields = Fields::new().tensor("0", &tensor).tensor("", &to).set("ne00", count).set("eps", 1e-6);
        let run = Run::new(corpus, "norm", kernel).structure(&fields).input(&tensor.lay_out(&x));
        let run = run.output::<f32>(to.len()).threadgroup_memory(128);
        run.threadgroups((2, 3, 1), (threads(count), 1, 1)).output::<f32>().is_within(&want, 1e-6);
    }
}

fn group_norm(corpus: &Corpus) {
    // Six matrices in three groups of two.
    let tensor = Tensor::of::<f32>([19, 7, 6, 1]);
    let x: Vec<f32> = Random::new(112).numbers(tensor.len(), -2.0, 3.0);
    let fields = Fields::new().tensor("0", &tensor).set("ngrp", 3).set("eps", 1e-3);
    let run = Run::new(corpus, "norm", "kernel_group_norm_f32").structure(&fields).input(&x);
    let run = run.output::<f32>(x.len()).threadgroup_memory(128);
    let want: Vec<f64> = values(&x).chunks(2 * 19 * 7).flat_map(|group| normalized(group, 1e-3, true)).collect();
    run.threadgroups((3, 1, 1), (32, 1, 1)).output::<f32>().is_within(&want, 1e-6);
}

pub(super) fn softmax(corpus: &Corpus) {
    for length in [3, 100, 1501] {
        for mask in [None, Some("f16"), Some("f32")] {
            one_softmax(corpus, length, mask, false, 0.0);
        }
    }
    one_softmax(corpus, 128, Some("f16"), true, 8.0);
    one_softmax(corpus, 200, Some("f32"), true, 8.0);
    one_softmax(corpus, 75, Some("f32"), true, 0.0);
}

/// Softmax of scores, perhaps with a mask of half or single precision, sinks, and a slope for each head.
fn one_softmax(corpus: &Corpus, length: usize, mask: Option<&str>, sinks: bool, max_bias: f64) {
    // Five heads: more than a power of two.
    let (rows, heads) = (3, 5);
    let from = Tensor::of::<f32>([length, rows, heads, 2]).with_gaps([16, 0, 0]);
    let to = Tensor::of::<f32>(from.ne);
    let masks = match mask {
        Some("f32") => Tensor::of::<f32>([length, rows, 1, 2]),
        _ => Tensor::of::<f16>([length, rows, 1, 2]),
    };
    let mut random = Random::new(113);
    let x: Vec<f32> = random.numbers(from.len(), -4.0, 4.0);
    let sink: Vec<f32> = random.numbers(heads, -2.0, 2.0);
    // Some are masked, though not a whole row.
    let mut masked: Vec<f64> =
        random.numbers::<f16>(masks.len(), -2.0, 0.0).iter().map(|x| f64::from(*x)).collect();
    for (at, one) in masked.iter_mut().enumerate() {
        if at % length > 0 && random.below(4) == 0 {
            *one = f64::NEG_INFINITY;
        }
    }
    let (m0, m1) = (2f64.powf(-max_bias / 4.0), 2f64.powf(-max_bias / 8.0));
    let slope = |head: usize| match head {
        _ if max_bias == 0.0 => 1.0,
        0..4 => m0.powi(head as i32 + 1),
        _ => m1.powi(2 * (head as i32 - 4) + 1),
    };
    let fields = Fields::new().tensor("0", &from).tensor("1", &masks).tensor("", &to).set("scale", 0.5);
    let fields = fields.set("max_bias", max_bias).set("m0", m0).set("m1", m1).set("n_head_log2", 4);
    let width = if length.is_multiple_of(4) { 4 } else { 1 };
    let suffix = if width == 4 { "_4" } else { "" };
    let run = Run::new(corpus, "softmax", format!("kernel_soft_max_{}{suffix}", mask.unwrap_or("f32")));
    let run = run.structure(&fields).input(&from.lay_out(&x));
    let run = match mask {
        None => run.same_as(1),
        Some("f32") => run.input(&masked.iter().map(|x| *x as f32).collect::<Vec<_>>()),
        Some(_) => run.input(&masked.iter().map(|x| f16::from_f64(*x)).collect::<Vec<_>>()),
    };
    let run = if sinks { run.input(&sink) } else { run.same_as(1) };
    let run = run.output::<f32>(to.len()).threadgroup_memory(128);
    let ran = run.threadgroups((rows, heads, 2), ((length / width).next_power_of_two().clamp(32, 256), 1, 1));
    let want: Vec<f64> = values(&x)
        .chunks(length)
        .enumerate()
        .flat_map(|(row, numbers)| {
            let (batch, head, row) = (row / rows / heads, row / rows % heads, row % rows);
            let value = |(at, x): (usize, &f64)| {
                let mask = mask.map_or(0.0, |_| slope(head) * masked[(batch * rows + row) * length + at]);
                0.5 * x + mask
            };
            let mut scores: Vec<f64> = numbers.iter().enumerate().map(value).collect();
            scores.extend(sinks.then_some(f64::from(sink[head])));
            let mut row = softmax_of(&scores);
            row.truncate(length);
            row
        })
        .collect();
    ran.output::<f32>().is_within(&want, 2e-6);
}

pub(super) fn sums(corpus: &Corpus) {
    let tensor = Tensor::of::<f32>([300, 4, 3, 2]).with_gaps([48, 16, 0]);
    let x: Vec<f32> = Random::new(114).numbers(tensor.len(), -2.0, 3.0);
    let to = Tensor::of::<f32>([1, 4, 3, 2]);
    for (kernel, count) in [("kernel_sum_rows_f32_f32", 300), ("kernel_sum_rows_f32_f32_4", 75)] {
        for (number, divisor) in [(10, 1.0), (11, 300.0)] {
            let run = Run::with_constants(corpus, "reduce", kernel, &[(1400, Short(number))]);
            let fields = Fields::new().tensor("0", &tensor).tensor("", &to).set("ne00", count);
            let run = run.structure(&fields).input(&tensor.lay_out(&x)).output::<f32>(24).threadgroup_memory(512);
            let want: Vec<f64> = values(&x).chunks(300).map(|row| row.iter().sum::<f64>() / divisor).collect();
            run.threadgroups((4, 3, 2), (count.min(threads(count)), 1, 1)).output::<f32>().is_within(&want, 1e-6);
        }
    }
    let run = Run::new(corpus, "reduce", "kernel_op_sum_f32").structure(&Fields::new().set("np", x.len()));
    let run = run.input(&x).output::<f32>(1).threadgroup_memory(128);
    let want = [values(&x).iter().sum::<f64>()];
    run.threadgroups((1, 1, 1), (1024, 1, 1)).output::<f32>().is_within(&want, 1e-5);
}

/// Rows of more elements than a threadgroup has threads: sums of parts, sums of these, and both added.
pub(super) fn running_sums(corpus: &Corpus) {
    let (length, rows, threads) = (700, 3, 256);
    let tensor = Tensor::of::<f32>([length, rows, 1, 1]);
    let parts = Tensor::of::<f32>([length.div_ceil(threads), rows, 1, 1]);
    let x: Vec<f32> = Random::new(115).numbers(tensor.len(), -2.0, 3.0);
    let fields = |from: &Tensor, parts: &Tensor| {
        let mut fields = Fields::new().tensor("0", from);
        for dimension in 0..4 {
            fields = fields.set(&format!("net{dimension}"), parts.ne[dimension]);
            fields = fields.set(&format!("nbt{dimension}"), parts.nb[dimension]);
        }
        fields
    };
    let run = Run::new(corpus, "reduce", "kernel_cumsum_blk_f32");
    let run = run.structure(&fields(&tensor, &parts).set("outb", true)).input(&x);
    let run = run.output::<f32>(parts.len()).output::<f32>(tensor.len()).threadgroup_memory(128);
    let first = run.threadgroups((parts.len(), 1, 1), (threads, 1, 1));
    let by_parts: Vec<f64> = values(&x)
        .chunks(length)
        .flat_map(|row| row.chunks(threads).flat_map(running_sum).collect::<Vec<_>>())
        .collect();
    first.output_at::<f32>(3).is_within(&by_parts, 1e-5);

    let sums = first.content::<f32>(2);
    let run = Run::new(corpus, "reduce", "kernel_cumsum_blk_f32");
    let run = run.structure(&fields(&parts, &parts).set("outb", false)).input(&sums);
    let run = run.output::<f32>(parts.len()).output::<f32>(parts.len()).threadgroup_memory(128);
    let second = run.threadgroups((rows, 1, 1), (threads, 1, 1));

    let run = Run::new(corpus, "reduce", "kernel_cumsum_add_f32").structure(&fields(&tensor, &parts));
    let run = run.input(&second.content::<f32>(3)).in_out(&first.content::<f32>(3));
    let want: Vec<f64> = values(&x).chunks(length).flat_map(running_sum).collect();
    run.threadgroups((parts.len(), 1, 1), (threads, 1, 1)).output::<f32>().is_within(&want, 1e-5);
}

fn running_sum(row: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    row.iter()
        .map(|x| {
            sum += x;
            sum
        })
        .collect()
}

pub(super) fn orders(corpus: &Corpus) {
    for length in [1, 60, 1000] {
        order(corpus, length, "asc");
        order(corpus, length, "desc");
    }
    merged_order(corpus);
    argmax(corpus);
}

/// Rows that have every value once.
fn shuffled(rows: usize, length: usize) -> Vec<f32> {
    let mut random = Random::new(116);
    (0..rows).flat_map(|_| random.permutation(length)).map(|x| x as f32).collect()
}

fn expected(x: &[f32], length: usize, direction: &str) -> Vec<f64> {
    let order = |row: &[f64]| {
        let mut order = ascending(row);
        if direction == "desc" {
            order.reverse();
        }
        order
    };
    values(x).chunks(length).flat_map(order).collect()
}

fn order(corpus: &Corpus, length: usize, direction: &str) {
    let from = Tensor::of::<f32>([length, 3, 2, 1]).with_gaps([20, 0, 0]);
    let to = Tensor::of::<i32>(from.ne);
    let x = shuffled(6, length);
    let threads = length.next_power_of_two();
    let fields = Fields::new().tensor("0", &from).tensor("", &to).set("top_k", threads);
    let run = Run::new(corpus, "argsort", format!("kernel_argsort_f32_i32_{direction}")).structure(&fields);
    let run = run.input(&from.lay_out(&x)).output::<i32>(to.len()).threadgroup_memory(4 * threads);
    run.threadgroups((3, 2, 1), (threads, 1, 1)).output::<i32>().is(&expected(&x, length, direction));
}

/// Parts are sorted, then merged two by two.
fn merged_order(corpus: &Corpus) {
    let (length, rows, threads) = (700, 2, 256);
    let tensor = Tensor::of::<f32>([length, rows, 1, 1]);
    let x = shuffled(rows, length);
    let fields = Fields::new().tensor("0", &tensor).tensor("", &tensor);
    let run = Run::new(corpus, "argsort", "kernel_argsort_f32_i32_asc").structure(&fields.set("top_k", threads));
    let run = run.input(&x).output::<i32>(x.len()).threadgroup_memory(4 * threads);
    let parts = length.div_ceil(threads);
    let mut order: Vec<i32> = run.threadgroups((parts * rows, 1, 1), (threads, 1, 1)).content(2);
    let mut sorted = threads;
    while sorted < length {
        let fields = Fields::new().tensor("0", &tensor).tensor("", &tensor).set("top_k", length).set("len", sorted);
        let run = Run::new(corpus, "argsort", "kernel_argsort_merge_f32_i32_asc").structure(&fields);
        let run = run.input(&x).input(&order).output::<i32>(x.len());
        let ran = run.threadgroups((length.div_ceil(2 * sorted) * rows, 1, 1), (512, 1, 1));
        order = ran.content(3);
        sorted *= 2;
        if sorted >= length {
            ran.output::<i32>().is(&expected(&x, length, "asc"));
        }
    }
}

fn argmax(corpus: &Corpus) {
    let tensor = Tensor::of::<f32>([777, 5, 1, 1]);
    let x = shuffled(5, 777);
    let run = Run::new(corpus, "misc", "kernel_argmax_f32").structure(&Fields::new().tensor("0", &tensor));
    let run = run.input(&x).output::<i32>(5).threadgroup_memory(256);
    let want: Vec<f64> = values(&x).chunks(777).map(|row| ascending(row)[776]).collect();
    run.threadgroups((5, 1, 1), (256, 1, 1)).output::<i32>().is(&want);
}
