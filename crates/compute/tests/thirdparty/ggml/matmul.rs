//! Matrices of weights times vectors and matrices.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::quants::Format;
use crate::reference::product;
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::f16;
use metalworks_compute::ConstantValue::{self, Bool, Short};

/// Weights and the columns that they are multiplied with. Two matrices of weights serve four of columns, and there are
/// gaps between rows.
struct Problem {
    format: &'static Format,
    weights: Tensor,
    columns: Tensor,
    to: Tensor,
    bytes: Vec<u8>,
    x: Vec<f32>,
    want: Vec<f64>,
}

impl Problem {
    fn new(format: &'static Format, rows: usize, columns: usize, length: usize) -> Problem {
        let gap = if format.weights == 1 { 16 } else { 2 * format.bytes };
        let weights = Tensor::blocks([length, rows, 2, 1], format.weights, format.bytes).with_gaps([gap, 0, 0]);
        let columns = Tensor::of::<f32>([length, columns, 4, 1]).with_gaps([32, 16, 0]);
        let to = Tensor::of::<f32>([rows, columns.ne[1], 4, 1]);
        let mut random = Random::new(140);
        let dense = format.random(&mut random, weights.len());
        let row = length / format.weights * format.bytes;
        // Between the rows there is nothing that is a number.
        let bytes: Vec<u8> = dense.chunks(row).flat_map(|row| [row, vec![0xff; gap].as_slice()].concat()).collect();
        let x: Vec<f32> = random.numbers(columns.len(), -1.0, 1.0);
        let numbers = format.decode(&dense);
        let want = values(&x)
            .chunks(length * columns.ne[1])
            .enumerate()
            .flat_map(|(at, x)| product(&numbers[at / 2 * rows * length..][..rows * length], x, length))
            .collect();
        Problem { format, weights, columns, to, bytes, x, want }
    }

    fn fields(&self) -> Fields {
        Fields::new()
            .tensor("0", &self.weights)
            .tensor("1", &self.columns)
            .tensor("", &self.to)
            .set("r2", 2)
            .set("r3", 1)
    }

    fn run<'c>(&self, run: Run<'c>) -> Run<'c> {
        run.input(&self.bytes).input(&self.columns.lay_out(&self.x)).output::<f32>(self.to.len())
    }
}

/// Four matrices of columns, of which two have the same weights.
const BROADCAST: &[(u32, ConstantValue)] = &[(602, Short(4)), (603, Short(2)), (604, Short(1))];

/// Formats, with the rows for each simdgroup, the simdgroups, and the threadgroup memory.
const FORMATS: &[(&str, usize, usize, usize)] = &[
    ("q4_0", 4, 2, 0),
    ("q4_1", 4, 2, 0),
    ("q5_0", 4, 2, 0),
    ("q5_1", 4, 2, 0),
    ("q8_0", 2, 4, 256),
    ("q2_K", 4, 2, 0),
    ("q3_K", 2, 2, 0),
    ("q4_K", 2, 2, 0),
    ("q5_K", 1, 2, 0),
    ("q6_K", 2, 2, 0),
    ("iq4_nl", 2, 2, 128),
    ("iq4_xs", 2, 2, 128),
];

pub(super) fn matrix_times_vector(corpus: &Corpus) {
    for (name, rows_each, simdgroups, memory) in FORMATS {
        let format = Format::named(name);
        for (rows, columns, blocks) in [(1, 1, 1), (13, 2, 3), (21, 1, 18)] {
            let problem = Problem::new(format, rows, columns, blocks * format.weights);
            let kernel = format!("kernel_mul_mv_{name}_f32");
            // The simdgroups share the rows, or the columns.
            let each = if *name == "q8_0" { *rows_each } else { rows_each * simdgroups };
            vector(corpus, &problem, kernel, [*rows_each, *simdgroups, each], *memory);
        }
    }
    for name in ["f32", "f16", "bf16"] {
        let format = Format::named(name);
        for (suffix, length, rows_each, simdgroups) in
            [("_short", 7, 32, 1), ("_short", 31, 32, 1), ("", 33, 2, 1), ("", 301, 2, 3), ("_4", 640, 2, 4)]
        {
            let problem = Problem::new(format, 37, 3, length);
            let kernel = format!("kernel_mul_mv_{name}_f32{suffix}");
            let memory = if suffix == "_short" { 0 } else { 256 };
            vector(corpus, &problem, kernel, [rows_each, simdgroups, rows_each], memory);
        }
    }
}

fn vector(corpus: &Corpus, problem: &Problem, kernel: String, [rows, simdgroups, each]: [usize; 3], memory: usize) {
    let constants = [&[(600, Short(simdgroups as i16)), (605, Bool(false))], BROADCAST].concat();
    let run = Run::with_constants(corpus, "mul_mv", kernel, &constants);
    let run = problem.run(run.structure(&problem.fields().set("nr0", rows)));
    // There is always some, whether the kernel uses it or not.
    let run = run.threadgroup_memory(memory.max(16));
    let [count, columns, matrices, _] = problem.to.ne;
    let ran = run.threadgroups((count.div_ceil(each), columns, matrices), (32, simdgroups, 1));
    ran.output::<f32>().is_within(&problem.want, 1e-4);
}

/// Two to eight columns.
pub(super) fn matrix_times_few(corpus: &Corpus) {
    for name in [
        "f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl", "q2_K", "q3_K", "q4_K", "q5_K",
        "q6_K",
    ] {
        let format = Format::named(name);
        for (columns, columns_each, threads_each) in [(2, 2, 16), (5, 5, 8), (7, 4, 8), (3, 3, 8)] {
            let problem = Problem::new(format, 19, columns, 768);
            let constants = [&[(600, Short(2)), (601, Short(threads_each))], BROADCAST].concat();
            let kernel = format!("kernel_mul_mv_ext_{name}_f32_r1_{columns_each}");
            let run = Run::with_constants(corpus, "mul_mv", kernel, &constants);
            let run = problem.run(run.structure(&problem.fields()));
            let rows = 2 * 32 / threads_each as usize;
            let ran = run.threadgroups((19usize.div_ceil(rows), columns.div_ceil(columns_each), 4), (32, 2, 1));
            // Some formats are decoded in half precision.
            ran.output::<f32>().is_within(&problem.want, 3e-3);
        }
    }
}

pub(super) fn matrix_times_matrix(corpus: &Corpus) {
    for name in
        ["f32", "f16", "bf16", "q4_0", "q5_1", "q8_0", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K", "iq4_nl", "iq4_xs"]
    {
        let format = Format::named(name);
        let length = format.weights.max(64);
        for (rows, columns) in [(64, 32), (70, 41), (5, 3)] {
            matrix::<f32>(corpus, &Problem::new(format, rows, columns, length));
        }
        if format.weights == 1 {
            // Rows that a step of 32 does not divide.
            matrix::<f32>(corpus, &Problem::new(format, 66, 35, 84));
        }
    }
    matrix::<f16>(corpus, &Problem::new(Format::named("q4_0"), 70, 41, 96));
    matrix::<f16>(corpus, &Problem::new(Format::named("f16"), 70, 41, 96));
}

/// With columns of type `T`.
fn matrix<T: Number>(corpus: &Corpus, problem: &Problem) {
    let [rows, columns, matrices, _] = problem.to.ne;
    let length = problem.weights.ne[0];
    let partial = rows % 64 != 0 || columns % 32 != 0;
    let constants = [
        (700, Bool(!length.is_multiple_of(32))),
        (701, Bool(partial)),
        (702, Short(4)),
        (703, Short(1)),
        (704, Short(2)),
        (705, Short(1)),
    ];
    let kernel = format!("kernel_mul_mm_{}_{}", problem.format.name, T::NAME);
    let run = Run::with_constants(corpus, "mul_mm", kernel, &constants);
    let columns_of = Tensor::of::<T>(problem.columns.ne);
    let x: Vec<T> = problem.x.iter().map(|x| T::from_f64(f64::from(*x))).collect();
    let fields = Fields::new().tensor("0", &problem.weights).tensor("1", &columns_of).tensor("", &problem.to);
    let run = run.structure(&fields.set("r2", 2).set("r3", 1)).input(&problem.bytes).input(&x);
    let run = run.output::<f32>(problem.to.len()).threadgroup_memory(8192);
    let ran = run.threadgroups((columns.div_ceil(32), rows.div_ceil(64), matrices), (32, 4, 1));
    // Everything is rounded to the type of the weights, or to half precision.
    let tolerance = if problem.format.name == "bf16" { 2e-2 } else { 3e-3 };
    ran.output::<f32>().is_within(&problem.want, tolerance);
}

/// Weights of several experts, of which each token names two.
pub(super) fn experts(corpus: &Corpus) {
    for (name, rows_each, simdgroups, memory) in FORMATS {
        let format = Format::named(name);
        let (experts, rows, tokens, used) = (5, 11, 3, 2);
        let length = 2 * format.weights;
        let weights = Tensor::blocks([length, rows, experts, 1], format.weights, format.bytes);
        let columns = Tensor::of::<f32>([length, used, tokens, 1]);
        let to = Tensor::of::<f32>([rows, used, tokens, 1]);
        let ids = [3i32, 0, 4, 4, 1, 2];
        let mut random = Random::new(141);
        let bytes = format.random(&mut random, weights.len());
        let x: Vec<f32> = random.numbers(columns.len(), -1.0, 1.0);
        let numbers = format.decode(&bytes);
        let want: Vec<f64> = values(&x)
            .chunks(length)
            .zip(ids)
            .flat_map(|(x, id)| product(&numbers[id as usize * rows * length..][..rows * length], x, length))
            .collect();
        let constants = [
            (600, Short(*simdgroups as i16)),
            (602, Short(1)),
            (603, Short(1)),
            (604, Short(1)),
            (605, Bool(false)),
        ];
        let run = Run::with_constants(corpus, "mul_mv", format!("kernel_mul_mv_id_{name}_f32"), &constants);
        let fields = Fields::new().tensor("0", &weights).tensor("1", &columns).tensor("", &to);
        let fields = fields.set("nei0", used).set("nei1", tokens).set("nbi1", 4 * used).set("nr0", *rows_each);
        let run = run.structure(&fields).input(&bytes).input(&x).output::<f32>(to.len()).input(&ids);
        let each = if *name == "q8_0" { *rows_each } else { rows_each * simdgroups };
        let run = run.threadgroup_memory((*memory).max(16));
        let ran = run.threadgroups((rows.div_ceil(each), 1, tokens * used), (32, *simdgroups, 1));
        ran.output::<f32>().is_within(&want, 1e-4);
    }
}
