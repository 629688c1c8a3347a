//! One result for each element.

use super::strides::{contiguous, pick, places};
use crate::corpus::Corpus;
use crate::numbers::{Number, Random, values};
use crate::reference::{erf, gelu, gelu_erf};
use crate::run::Run;
use half::{bf16, f16};
use metalworks_compute::ConstantValue;

/// A length that no threadgroup divides.
const LENGTH: usize = 2051;

/// candle's kernels handle eight bytes in each thread.
fn threads<T>(length: usize) -> usize {
    length.div_ceil((8 / size_of::<T>()).max(1))
}

/// A function of one number, where to try it, and how near the results are, in units of their type's precision.
type Function = (&'static str, fn(f64) -> f64, (f64, f64), f64);

const FUNCTIONS: &[Function] = &[
    ("copy", |x| x, (-9.0, 9.0), 0.0),
    ("neg", |x| -x, (-9.0, 9.0), 0.0),
    ("abs", f64::abs, (-9.0, 9.0), 0.0),
    ("relu", |x| x.max(0.0), (-9.0, 9.0), 0.0),
    ("ceil", f64::ceil, (-9.0, 9.0), 0.0),
    ("floor", f64::floor, (-9.0, 9.0), 0.0),
    ("round", f64::round, (-9.0, 9.0), 0.0),
    ("sign", |x| if x == 0.0 { 0.0 } else { x.signum() }, (-9.0, 9.0), 0.0),
    ("sqr", |x| x * x, (-9.0, 9.0), 1.0),
    ("recip", f64::recip, (0.1, 9.0), 2.0),
    ("sqrt", f64::sqrt, (0.0, 90.0), 2.0),
    ("exp", f64::exp, (-9.0, 9.0), 4.0),
    ("log", f64::ln, (1.5, 900.0), 4.0),
    ("cos", f64::cos, (-1.2, 1.2), 4.0),
    ("sin", f64::sin, (0.1, 3.0), 4.0),
    ("tanh", f64::tanh, (-6.0, 6.0), 4.0),
    ("sigmoid", |x| 1.0 / (1.0 + (-x).exp()), (-6.0, 6.0), 4.0),
    ("silu", |x| x / (1.0 + (-x).exp()), (-6.0, 6.0), 4.0),
];

/// These cancel: the error is measured by the results as a whole.
const CANCELLING: &[Function] = &[
    ("gelu", gelu, (-6.0, 6.0), 4.0),
    ("gelu_erf", gelu_erf, (-4.0, 6.0), 4.0),
    ("erf", erf, (-3.0, 3.0), 4.0),
    ("cos", f64::cos, (-20.0, 20.0), 8.0),
    ("sin", f64::sin, (-20.0, 20.0), 8.0),
];

pub(super) fn unary(corpus: &Corpus) {
    unary_of::<f32>(corpus);
    unary_of::<f16>(corpus);
    unary_of::<bf16>(corpus);
}

fn unary_of<T: Number>(corpus: &Corpus) {
    let mut random = Random::new(1);
    for length in [1, LENGTH] {
        for (name, function, (low, high), units) in FUNCTIONS {
            let x: Vec<T> = random.numbers(length, *low, *high);
            let want: Vec<f64> = values(&x).into_iter().map(function).collect();
            contiguous_unary(corpus, name, &x).is_near(&want, half_steps::<T>(*units));
        }
    }
    for (name, function, (low, high), units) in CANCELLING {
        let x: Vec<T> = random.numbers(LENGTH, *low, *high);
        let want: Vec<f64> = values(&x).into_iter().map(function).collect();
        // The error function is an approximation by a polynomial.
        let polynomial = if name.contains("erf") { 5e-7 } else { 0.0 };
        contiguous_unary(corpus, name, &x).is_within(&want, half_steps::<T>(*units) * T::EPSILON + polynomial);
    }
}

/// Narrow types round after every step.
fn half_steps<T: Number>(units: f64) -> f64 {
    if T::EPSILON > 1e-6 { units * 2.0 + 1.0 } else { units }
}

fn contiguous_unary<'c, T: Number>(corpus: &'c Corpus, name: &str, x: &[T]) -> crate::compare::Output<'c, T> {
    let run = Run::new(corpus, "unary", format!("{name}_{}", T::NAME));
    let run = run.value(x.len() as u64).input(x).output::<T>(x.len());
    run.linear(threads::<T>(x.len())).output()
}

pub(super) fn unary_strided(corpus: &Corpus) {
    let (shape, strides) = ([7, 3, 11], [3, 1, 21]);
    let places = places(&shape, &strides);
    let x: Vec<f32> = Random::new(2).numbers(7 * 3 * 11, -5.0, 5.0);
    for (name, function) in
        [("exp", f64::exp as fn(f64) -> f64), ("silu", |x| x / (1.0 + (-x).exp())), ("copy", |x| x)]
    {
        let run = Run::new(corpus, "unary", format!("{name}_f32_strided"));
        let run = run.value(places.len() as u64).value(3u64).shape(&shape);
        let run = run.shape(&strides).input(&x).output::<f32>(places.len());
        let want: Vec<f64> = pick(&values(&x), &places).into_iter().map(function).collect();
        run.linear(places.len()).output::<f32>().is_near(&want, 4.0);
    }
}

/// Arithmetic on two numbers.
type Operation = (&'static str, fn(f64, f64) -> f64);

const OPERATIONS: &[Operation] = &[
    ("badd", |x, y| x + y),
    ("bsub", |x, y| x - y),
    ("bmul", |x, y| x * y),
    ("bdiv", |x, y| x / y),
    ("bminimum", f64::min),
    ("bmaximum", f64::max),
];

pub(super) fn binary(corpus: &Corpus) {
    for operation in OPERATIONS {
        binary_of::<f32>(corpus, operation, (-9.0, 9.0));
        binary_of::<f16>(corpus, operation, (-9.0, 9.0));
        binary_of::<bf16>(corpus, operation, (-9.0, 9.0));
        binary_of::<u32>(corpus, operation, (100.0, 2000.0));
        binary_of::<i64>(corpus, operation, (-2000.0, -1.0));
    }
    binary_strided(corpus);
}

fn binary_of<T: Number>(corpus: &Corpus, (name, operation): &Operation, (low, high): (f64, f64)) {
    let mut random = Random::new(3);
    let (x, y): (Vec<T>, Vec<T>) = (random.numbers(LENGTH, low, high), random.numbers(LENGTH, low, high));
    let run = Run::new(corpus, "binary", format!("{name}_{}", T::NAME));
    let run = run.value(LENGTH as u64).input(&x).input(&y).output::<T>(LENGTH);
    let exact = |x: f64, y: f64| {
        let result = operation(x, y);
        match T::NAME {
            // Integers divide towards zero, and wrap.
            "u32" => (result.trunc() as i64 as u32).into(),
            "i64" => result.trunc(),
            _ => result,
        }
    };
    let want: Vec<f64> = values(&x).into_iter().zip(values(&y)).map(|(x, y)| exact(x, y)).collect();
    run.linear(threads::<T>(LENGTH)).output::<T>().is_near(&want, 2.0);
}

fn binary_strided(corpus: &Corpus) {
    // The left one transposed, the right one a row for all.
    let (shape, left, right) = ([5, 13, 9], [1, 5, 65], [0, 0, 1]);
    let mut random = Random::new(4);
    let (x, y): (Vec<f32>, Vec<f32>) =
        (random.numbers(5 * 13 * 9, -9.0, 9.0), random.numbers(5 * 13 * 9, 1.0, 9.0));
    let count = x.len();
    let whole = contiguous(&shape);
    for (suffix, left, right) in [
        ("strided", &left[..], &right[..]),
        ("lstrided", &left, &whole),
        ("rstrided", &whole, &right),
        ("cs", &whole, &[0, 0, 0]),
        ("sc", &[0, 0, 0], &whole),
        ("lss", &left, &[0, 0, 0]),
        ("rss", &[0, 0, 0], &right),
        ("scalar", &[0, 0, 0], &[0, 0, 0]),
    ] {
        let run = Run::new(corpus, "binary", format!("bdiv_f32_{suffix}"));
        let run = run.value(count as u64).value(3u64).shape(&shape);
        let run = run.shape(left).shape(right).input(&x).input(&y).output::<f32>(count);
        let (x, y) = (pick(&x, &places(&shape, left)), pick(&y, &places(&shape, right)));
        let want: Vec<f64> = values(&x).into_iter().zip(values(&y)).map(|(x, y)| x / y).collect();
        run.linear(threads::<f32>(count)).output::<f32>().is_near(&want, 2.0);
    }
}

pub(super) fn compare(corpus: &Corpus) {
    compare_of::<f32>(corpus);
    compare_of::<bf16>(corpus);
    compare_of::<i64>(corpus);
}

/// A comparison of two numbers.
type Comparison = (&'static str, fn(&f64, &f64) -> bool);

fn compare_of<T: Number>(corpus: &Corpus) {
    let operations: [Comparison; 6] =
        [("eq", f64::eq), ("ne", f64::ne), ("le", f64::le), ("lt", f64::lt), ("ge", f64::ge), ("gt", f64::gt)];
    let mut random = Random::new(5);
    // Few values, so that some are equal.
    let mut few = || -> Vec<T> { (0..LENGTH).map(|_| T::from_f64(random.below(5) as f64 - 2.0)).collect() };
    let (x, y) = (few(), few());
    for (name, operation) in operations {
        let run = Run::new(corpus, "binary", format!("{name}_{}", T::NAME));
        let run = run.value(LENGTH as u64).input(&x).input(&y).output::<u8>(LENGTH);
        let want: Vec<f64> =
            values(&x).iter().zip(values(&y)).map(|(x, y)| f64::from(u8::from(operation(x, &y)))).collect();
        run.linear(threads::<T>(LENGTH)).output::<u8>().is(&want);
    }
}

pub(super) fn cast(corpus: &Corpus) {
    cast_between::<f32, f16>(corpus, (-70000.0, 70000.0));
    cast_between::<f32, bf16>(corpus, (-1e30, 1e30));
    cast_between::<f32, u8>(corpus, (0.0, 255.0));
    cast_between::<f32, i64>(corpus, (-1e15, 1e15));
    cast_between::<f16, f32>(corpus, (-60000.0, 60000.0));
    cast_between::<bf16, f16>(corpus, (-100.0, 100.0));
    cast_between::<u8, f32>(corpus, (0.0, 255.0));
    cast_between::<u32, f16>(corpus, (0.0, 66000.0));
    cast_between::<i64, f32>(corpus, (-1e15, 1e15));
    cast_between::<i64, u8>(corpus, (0.0, 255.0));

    let (shape, strides) = ([9, 5], [1, 9]);
    let x: Vec<f16> = Random::new(6).numbers(45, -9.0, 9.0);
    let run = Run::new(corpus, "cast", "cast_f16_f32_strided").value(45u64).value(2u64);
    let run = run.shape(&shape).shape(&strides).input(&x).output::<f32>(45);
    run.linear(45).output::<f32>().is(&values(&pick(&x, &places(&shape, &strides))));
}

fn cast_between<T: Number, U: Number>(corpus: &Corpus, (low, high): (f64, f64)) {
    let x: Vec<T> = Random::new(7).numbers(LENGTH, low, high);
    let run = Run::new(corpus, "cast", format!("cast_{}_{}", T::NAME, U::NAME));
    let run = run.value(LENGTH as u64).input(&x).output::<U>(LENGTH);
    let want: Vec<f64> = x.iter().map(|x| U::from_f64(x.to_f64()).to_f64()).collect();
    run.linear(threads::<T>(LENGTH)).output::<U>().is(&want);
}

pub(super) fn affine(corpus: &Corpus) {
    affine_of::<f32>(corpus);
    affine_of::<f16>(corpus);

    let x: Vec<u8> = Random::new(8).numbers(LENGTH, 0.0, 80.0);
    let run = Run::new(corpus, "affine", "affine_u8").value(LENGTH as u64).value(2.5f32).value(3.0f32);
    let want: Vec<f64> = x.iter().map(|x| (f64::from(*x) * 2.5 + 3.0).trunc()).collect();
    run.input(&x).output::<u8>(LENGTH).linear(threads::<u8>(LENGTH)).output::<u8>().is(&want);
}

fn affine_of<T: Number>(corpus: &Corpus) {
    let name = T::NAME;
    let x: Vec<T> = Random::new(9).numbers(LENGTH, 0.25, 4.0);
    let map = |function: fn(f64) -> f64| values(&x).into_iter().map(function).collect::<Vec<f64>>();
    let size = LENGTH as u64;
    let run = Run::new(corpus, "affine", format!("affine_{name}")).value(size).value(-1.5f32).value(0.75f32);
    let ran = run.input(&x).output::<T>(LENGTH).linear(threads::<T>(LENGTH));
    ran.output::<T>().is_within(&map(|x| x * -1.5 + 0.75), T::EPSILON);
    let run = Run::new(corpus, "affine", format!("powf_{name}")).value(size).value(-2.5f32);
    let ran = run.input(&x).output::<T>(LENGTH).linear(threads::<T>(LENGTH));
    ran.output::<T>().is_near(&map(|x| x.powf(-2.5)), 16.0);
    let x: Vec<T> = Random::new(10).numbers(LENGTH, -4.0, 4.0);
    let want: Vec<f64> = values(&x).into_iter().map(|x| if x > 0.0 { x } else { 0.5 * (x.exp() - 1.0) }).collect();
    let run = Run::new(corpus, "affine", format!("elu_{name}")).value(size).value(0.5f32);
    let ran = run.input(&x).output::<T>(LENGTH).linear(threads::<T>(LENGTH));
    ran.output::<T>().is_within(&want, 2.0 * T::EPSILON);
}

pub(super) fn fill_and_copy(corpus: &Corpus) {
    let run =
        Run::new(corpus, "fill", "fill_f16").output::<f16>(LENGTH).value(f16::from_f32(-0.5)).value(LENGTH as u64);
    run.linear(LENGTH).output::<f16>().is(&[-0.5; LENGTH]);

    // A window of 5 × 9 out of rows of 20, to rows of 11 from element 3 on.
    let x: Vec<f32> = Random::new(11).numbers(100, -9.0, 9.0);
    let run = Run::new(corpus, "unary", "copy2d_f32").value(5i64).value(9i64).value(20i64).value(11i64);
    let ran = run.input(&x).in_out(&[7f32; 55]).threadgroups((2, 3, 1), (4, 4, 1));
    let want: Vec<f64> =
        (0..55).map(|at| if at % 11 < 9 { x[at / 11 * 20 + at % 11].into() } else { 7.0 }).collect();
    ran.output::<f32>().is(&want);

    // Every second element of five rows.
    let run = Run::new(corpus, "unary", "const_set_u32_strided").value(35u64).value(2u64).values(&[5u64, 7]);
    let ran = run.values(&[14u64, 2]).input(&[41u32]).in_out(&[9u32; 70]).linear(35);
    ran.output::<u32>().is(&(0..70).map(|at| if at % 2 == 0 { 41.0 } else { 9.0 }).collect::<Vec<_>>());
}

pub(super) fn choose(corpus: &Corpus) {
    choose_of::<f32>(corpus, true);
    choose_of::<f32>(corpus, false);
    choose_of::<f16>(corpus, false);
}

fn choose_of<T: Number>(corpus: &Corpus, all_contiguous: bool) {
    let (shape, transposed) = ([31, 17], [1, 31]);
    let whole = contiguous(&shape);
    let false_strides = if all_contiguous { &whole[..] } else { &transposed };
    let mut random = Random::new(12);
    let condition: Vec<u8> = (0..31 * 17).map(|_| (random.below(2) * 3) as u8).collect();
    let (x, y): (Vec<T>, Vec<T>) = (random.numbers(31 * 17, 1.0, 9.0), random.numbers(31 * 17, -9.0, -1.0));
    let constants = [true, true, all_contiguous].map(ConstantValue::Bool);
    let constants: Vec<_> = (0..).zip(constants).collect();
    let run = Run::with_constants(corpus, "ternary", format!("where_u8_{}", T::NAME), &constants);
    let run = run.value(condition.len() as u64).value(2u64).shape(&shape);
    let run = run.shape(&whole).shape(&whole).shape(false_strides);
    let run = run.input(&condition).input(&x).input(&y).output::<T>(x.len());
    let y = pick(&y, &places(&shape, false_strides));
    let want: Vec<f64> =
        (0..x.len()).map(|at| if condition[at] != 0 { x[at].to_f64() } else { y[at].to_f64() }).collect();
    run.linear(threads::<T>(x.len())).output::<T>().is(&want);
}
