//! One result for each element.

use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::reference::{gelu, gelu_erf};
use crate::run::Run;
use crate::tensor::{Fields, Tensor};
use half::f16;
use metalworks_compute::ConstantValue::{Bool, Short};

/// Rows with gaps between them.
const SHAPE: [usize; 4] = [84, 5, 3, 2];
const GAPS: [usize; 3] = [16, 32, 64];

/// A function of one number: its number, and how near results are, in units of their type's precision.
type Function = (i16, fn(f64) -> f64, f64);

const FUNCTIONS: &[Function] = &[
    (10, |x| 1.5 * x - 0.25, 1.0),
    (11, |_| 0.75, 0.0),
    (12, |x| x.clamp(-1.0, 2.0), 0.0),
    (13, |x| x * x, 1.0),
    (18, |x| if x > 0.0 { x } else { 0.1 * x }, 1.0),
    (100, f64::tanh, 4.0),
    (101, |x| x.max(0.0), 0.0),
    (102, |x| 1.0 / (1.0 + (-x).exp()), 4.0),
    (105, |x| x / (1.0 + (-1.702 * x).exp()), 8.0),
    (106, |x| x / (1.0 + (-x).exp()), 4.0),
    (108, |x| -x, 0.0),
    (109, f64::abs, 0.0),
    (110, |x| if x == 0.0 { 0.0 } else { x.signum() }, 0.0),
    (111, |x| f64::from(u8::from(x > 0.0)), 0.0),
    (114, f64::exp, 4.0),
    (117, f64::floor, 0.0),
    (118, f64::ceil, 0.0),
    (119, f64::round, 0.0),
    (120, f64::trunc, 0.0),
];

/// These cancel: the error is measured by the results as a whole.
const CANCELLING: &[Function] = &[
    (15, f64::sin, 8.0),
    (16, f64::cos, 8.0),
    (103, gelu, 4.0),
    (104, gelu_erf, 8.0),
    (107, |x| if x > 0.0 { x } else { x.exp() - 1.0 }, 4.0),
    (112, |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0), 4.0),
    (113, |x| (x / 6.0 + 0.5).clamp(0.0, 1.0), 4.0),
    (115, |x| x.exp().ln_1p(), 4.0),
    (116, f64::exp_m1, 8.0),
];

pub(super) fn unary(corpus: &Corpus) {
    for (at, function) in FUNCTIONS.iter().chain(CANCELLING).enumerate() {
        let cancels = at >= FUNCTIONS.len();
        unary_of::<f32>(corpus, function, cancels, 1);
        unary_of::<f32>(corpus, function, cancels, 4);
        unary_of::<f16>(corpus, function, cancels, 1);
    }
}

fn unary_of<T: Number>(corpus: &Corpus, (number, function, units): &Function, cancels: bool, width: usize) {
    let (from, to) = (Tensor::of::<T>(SHAPE).with_gaps(GAPS), Tensor::of::<T>(SHAPE));
    let x: Vec<T> = Random::new(100).numbers(from.len(), -4.0, 4.0);
    let suffix = if width == 4 { "_4" } else { "" };
    let kernel = format!("kernel_unary_{0}_{0}{suffix}", T::NAME);
    let run = Run::with_constants(corpus, "unary", kernel, &[(1200, Short(*number)), (1201, Bool(false))]);
    let parameters = if *number == 10 { (1.5, -0.25) } else { (0.0, 0.0) };
    let count = SHAPE[0] / width;
    let fields = Fields::new().tensor("0", &from).tensor("", &to).set("ne00", count).set("ne0", count);
    let fields = fields.set("slope", 0.1).set("scale", parameters.0).set("bias", parameters.1).set("val", 0.75);
    let run =
        run.structure(&fields.set("min", -1.0).set("max", 2.0)).input(&from.lay_out(&x)).output::<T>(to.len());
    let threads = count.min(32);
    let output =
        run.threadgroups((count.div_ceil(threads) * SHAPE[1], SHAPE[2], SHAPE[3]), (threads, 1, 1)).output::<T>();
    let want: Vec<f64> = values(&x).into_iter().map(function).collect();
    if cancels {
        output.is_within(&want, units * f64::from(f32::EPSILON));
    } else {
        output.is_near(&want, units + if T::NAME == "f16" { 1.0 } else { 0.0 });
    }
}

pub(super) fn binary(corpus: &Corpus) {
    let operations: [fn(f64, f64) -> f64; 4] = [|x, y| x + y, |x, y| x - y, |x, y| x * y, |x, y| x / y];
    for (number, operation) in operations.into_iter().enumerate() {
        // The same shape, a row for all, and one number for a row.
        for other in [SHAPE, [SHAPE[0], 1, 3, 1], [4, 5, 1, 2]] {
            binary_of::<f32>(corpus, number, operation, other, 1);
            binary_of::<f32>(corpus, number, operation, other, 4);
            binary_of::<f16>(corpus, number, operation, other, 1);
        }
    }
    added_chain(corpus);
}

fn binary_of<T: Number>(
    corpus: &Corpus,
    number: usize,
    operation: fn(f64, f64) -> f64,
    other: [usize; 4],
    width: usize,
) {
    let left = Tensor::of::<T>(SHAPE).with_gaps(GAPS);
    let (right, to) = (Tensor::of::<T>(other).with_gaps([32, 0, 16]), Tensor::of::<T>(SHAPE));
    let mut random = Random::new(101);
    let (x, y): (Vec<T>, Vec<T>) = (random.numbers(left.len(), -4.0, 4.0), random.numbers(right.len(), 0.5, 4.0));
    let columns_repeat = other[0] != SHAPE[0];
    let constants =
        [(1300, Short(number as i16)), (1301, Short(1)), (1302, Bool(false)), (1303, Bool(columns_repeat))];
    let suffix = if width == 4 { "_4" } else { "" };
    let kernel = format!("kernel_bin_fuse_{0}_{0}_{0}{suffix}", T::NAME);
    let run = Run::with_constants(corpus, "binbcast", kernel, &constants);
    let fields = Fields::new().tensor("0", &left).tensor("1", &right).tensor("", &to).set("offs", 0);
    let fields = fields.set("ne00", SHAPE[0] / width).set("ne10", other[0] / width).set("ne0", SHAPE[0] / width);
    let run = run.structure(&fields.array("o1", &[0; 8])).input(&left.lay_out(&x)).input(&right.lay_out(&y));
    let ran = run.output::<T>(to.len()).threadgroups((SHAPE[1], SHAPE[2], SHAPE[3]), (64, 1, 1));
    let want: Vec<f64> = left
        .indices()
        .zip(&x)
        .map(|(index, x)| {
            let [i0, i1, i2, i3] = [0, 1, 2, 3].map(|i: usize| index[i] % other[i]);
            operation(x.to_f64(), y[((i3 * other[2] + i2) * other[1] + i1) * other[0] + i0].to_f64())
        })
        .collect();
    ran.output::<T>().is_near(&want, 2.0);
}

/// One kernel adds three tensors to another.
fn added_chain(corpus: &Corpus) {
    let tensor = Tensor::of::<f32>(SHAPE);
    let mut random = Random::new(102);
    let x: Vec<f32> = random.numbers(tensor.len(), -4.0, 4.0);
    let addends: Vec<f32> = random.numbers(3 * tensor.len(), -4.0, 4.0);
    let constants = [(1300, Short(0)), (1301, Short(3)), (1302, Bool(false)), (1303, Bool(false))];
    let run = Run::with_constants(corpus, "binbcast", "kernel_bin_fuse_f32_f32_f32", &constants);
    let size = 4 * tensor.len();
    let fields = Fields::new().tensor("0", &tensor).tensor("1", &tensor).tensor("", &tensor).set("offs", 0);
    let run = run.structure(&fields.array("o1", &[2 * size, 0, size, 0, 0, 0, 0, 0]));
    let run = run.input(&x).input(&addends).output::<f32>(tensor.len());
    let want: Vec<f64> = (0..tensor.len())
        .map(|at| f64::from(x[at]) + (0..3).map(|i| f64::from(addends[i * tensor.len() + at])).sum::<f64>())
        .collect();
    run.threadgroups((SHAPE[1], SHAPE[2], SHAPE[3]), (64, 1, 1)).output::<f32>().is_within(&want, 1e-6);
}

/// A function of two halves.
type Gate<'a> = (&'static str, &'a dyn Fn(f64, f64) -> f64);

pub(super) fn gated(corpus: &Corpus) {
    let silu = |x: f64| x / (1.0 + (-x).exp());
    let gates: [Gate; 7] = [
        ("reglu", &|x, y| x.max(0.0) * y),
        ("geglu", &|x, y| gelu(x) * y),
        ("swiglu", &|x, y| silu(x) * y),
        ("swiglu_clamp", &|x, y| silu(x.min(2.5)) * y.clamp(-2.5, 2.5)),
        ("swiglu_oai", &|x, y| x.min(2.5) / (1.0 + (-1.702 * x.min(2.5)).exp()) * (1.0 + y.clamp(-2.5, 2.5))),
        ("geglu_erf", &|x, y| gelu_erf(x) * y),
        ("geglu_quick", &|x, y| x / (1.0 + (-1.702 * x).exp()) * y),
    ];
    for (name, gate) in gates {
        gated_of::<f32>(corpus, name, gate, false);
        gated_of::<f32>(corpus, name, gate, true);
        gated_of::<f16>(corpus, name, gate, false);
    }
}

/// Both halves in one tensor, or in two.
fn gated_of<T: Number>(corpus: &Corpus, name: &str, gate: &dyn Fn(f64, f64) -> f64, two: bool) {
    let (length, rows) = (77, 5);
    let from = Tensor::of::<T>([if two { length } else { 2 * length }, rows, 1, 1]).with_gaps([24, 0, 0]);
    let to = Tensor::of::<T>([length, rows, 1, 1]);
    let mut random = Random::new(103);
    let (x, y): (Vec<T>, Vec<T>) = (random.numbers(from.len(), -4.0, 4.0), random.numbers(from.len(), -4.0, 4.0));
    let fields = Fields::new().tensor("0", &from).tensor("1", &from).tensor("", &to).set("i00", 0);
    let fields = fields.set("i10", if two { 0 } else { length }).set("alpha", 1.702).set("limit", 2.5);
    let run = Run::new(corpus, "unary", format!("kernel_{name}_{}", T::NAME)).structure(&fields);
    let run = run.input(&from.lay_out(&x));
    let run = if two { run.input(&from.lay_out(&y)) } else { run.same_as(1) };
    let ran = run.output::<T>(to.len()).threadgroups((rows, 1, 1), (length / 2, 1, 1));
    let want: Vec<f64> = (0..rows * length)
        .map(|at| {
            let (row, column) = (at / length, at % length);
            let first = row * from.ne[0] + column;
            let second = if two { y[first] } else { x[first + length] };
            gate(x[first].to_f64(), second.to_f64())
        })
        .collect();
    ran.output::<T>().is_within(&want, 2e-6);
}

pub(super) fn repeat(corpus: &Corpus) {
    let from = Tensor::of::<f32>([7, 3, 1, 2]).with_gaps([12, 4, 20]);
    let to = Tensor::of::<f32>([21, 6, 4, 2]);
    let x: Vec<f32> = Random::new(104).numbers(from.len(), -4.0, 4.0);
    let run = Run::new(corpus, "binbcast", "kernel_repeat_f32");
    let run = run.structure(&Fields::new().tensor("0", &from).tensor("", &to)).input(&from.lay_out(&x));
    let want: Vec<f64> = to.indices().map(|[i0, i1, _, i3]| x[(i3 * 3 + i1 % 3) * 7 + i0 % 7].into()).collect();
    run.output::<f32>(to.len()).threadgroups((6, 4, 2), (32, 1, 1)).output::<f32>().is(&want);
}
