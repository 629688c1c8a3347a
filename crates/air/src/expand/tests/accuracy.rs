//! Errors of the library, in units in the last place.

use super::run::{Array, apply};
use std::f64::consts::PI;

/// The distance of a result from the truth, in units of the last place of the truth as a `float`.
fn error(result: f32, truth: f64) -> f64 {
    let rounded = truth as f32;
    if result == rounded || (result.is_nan() && rounded.is_nan()) {
        return 0.0;
    }
    if !result.is_finite() || !rounded.is_finite() {
        // One past the largest number is infinity.
        let as_if = |value: f32| {
            if value.is_infinite() { f64::from(value.signum()) * 2f64.powi(128) } else { f64::from(value) }
        };
        if result.is_nan() || rounded.is_nan() {
            return f64::INFINITY;
        }
        return (as_if(result) - truth.clamp(-2f64.powi(128), 2f64.powi(128))).abs() / 2f64.powi(104);
    }
    error_in(result.into(), truth, -126, 23)
}

/// The distance of a result from the truth in a format with the given smallest exponent and bits of fraction.
pub(super) fn error_in(result: f64, truth: f64, smallest: i32, fraction: i32) -> f64 {
    let exponent = if truth == 0.0 { smallest } else { (truth.abs().log2().floor() as i32).max(smallest) };
    (result - truth).abs() / 2f64.powi(exponent - fraction)
}

/// Numbers of every size and sign, and the special ones.
fn numbers(step: usize) -> Vec<f32> {
    let special =
        [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE];
    (0..=u32::MAX).step_by(step).map(f32::from_bits).chain(special).collect()
}

/// A function of one number: AIR's name, the truth, the bound, and where the bound holds.
pub(super) struct Unary {
    pub(super) name: &'static str,
    pub(super) truth: fn(f64) -> f64,
    bound: f64,
    within: fn(f32) -> bool,
}

fn everywhere(_: f32) -> bool {
    true
}

/// True if neither the argument nor the result is denormal, and the argument is not negative.
fn normal(x: f32) -> bool {
    x.is_nan() || x >= f32::MIN_POSITIVE || x == 0.0
}

fn half_turns(x: f64) -> (f64, i64) {
    let turns = (2.0 * (x % 2.0)).round();
    (((x % 2.0) - turns / 2.0) * PI, turns as i64)
}

fn sin_pi(x: f64) -> f64 {
    let (rest, quadrant) = half_turns(x);
    match quadrant.rem_euclid(4) {
        0 => rest.sin(),
        1 => rest.cos(),
        2 => -rest.sin(),
        _ => -rest.cos(),
    }
}

fn cos_pi(x: f64) -> f64 {
    let (rest, quadrant) = half_turns(x);
    match quadrant.rem_euclid(4) {
        0 => rest.cos(),
        1 => -rest.sin(),
        2 => -rest.cos(),
        _ => rest.sin(),
    }
}

pub(super) const UNARY: &[Unary] = &[
    Unary { name: "exp", truth: f64::exp, bound: 1.1, within: everywhere },
    Unary { name: "exp2", truth: f64::exp2, bound: 1.0, within: everywhere },
    Unary { name: "exp10", truth: |x| 10f64.powf(x), bound: 1.5, within: everywhere },
    Unary { name: "log", truth: f64::ln, bound: 1.0, within: everywhere },
    Unary { name: "log2", truth: f64::log2, bound: 1.0, within: everywhere },
    Unary { name: "log10", truth: f64::log10, bound: 1.0, within: everywhere },
    Unary { name: "sin", truth: f64::sin, bound: 3.0, within: everywhere },
    Unary { name: "cos", truth: f64::cos, bound: 3.0, within: everywhere },
    Unary { name: "tan", truth: f64::tan, bound: 5.0, within: everywhere },
    Unary { name: "sinpi", truth: sin_pi, bound: 2.5, within: everywhere },
    Unary { name: "cospi", truth: cos_pi, bound: 2.5, within: everywhere },
    Unary { name: "tanpi", truth: |x| sin_pi(x) / cos_pi(x), bound: 4.0, within: everywhere },
    Unary { name: "asin", truth: f64::asin, bound: 2.5, within: everywhere },
    Unary { name: "acos", truth: f64::acos, bound: 1.5, within: everywhere },
    Unary { name: "atan", truth: f64::atan, bound: 2.5, within: everywhere },
    Unary { name: "sinh", truth: f64::sinh, bound: 2.0, within: everywhere },
    Unary { name: "cosh", truth: f64::cosh, bound: 2.0, within: everywhere },
    Unary { name: "tanh", truth: f64::tanh, bound: 2.0, within: everywhere },
    Unary { name: "asinh", truth: f64::asinh, bound: 2.5, within: everywhere },
    Unary { name: "acosh", truth: f64::acosh, bound: 2.5, within: everywhere },
    Unary { name: "atanh", truth: f64::atanh, bound: 3.0, within: everywhere },
    Unary { name: "rsqrt", truth: |x| 1.0 / x.sqrt(), bound: 0.51, within: everywhere },
    Unary { name: "fast_rsqrt", truth: |x| 1.0 / x.sqrt(), bound: 1.6, within: everywhere },
    Unary { name: "fast_exp", truth: f64::exp, bound: 6.0, within: |x| x.is_nan() || x >= -86.9 },
    Unary { name: "fast_exp2", truth: f64::exp2, bound: 3.0, within: |x| x.is_nan() || x >= -125.0 },
    Unary { name: "fast_exp10", truth: |x| 10f64.powf(x), bound: 4.0, within: |x| x.is_nan() || x >= -37.7 },
    Unary { name: "fast_log", truth: f64::ln, bound: 1.5, within: normal },
    Unary { name: "fast_log2", truth: f64::log2, bound: 2.5, within: normal },
    Unary { name: "fast_log10", truth: f64::log10, bound: 3.0, within: normal },
    Unary { name: "fast_sin", truth: f64::sin, bound: 2.0, within: |x| x.abs() < 1.0e6 },
    Unary { name: "fast_cos", truth: f64::cos, bound: 2.0, within: |x| x.abs() < 1.0e6 },
    Unary { name: "fast_tan", truth: f64::tan, bound: 4.0, within: |x| x.abs() < 1.0e6 },
    Unary { name: "fast_tanh", truth: f64::tanh, bound: 3.0, within: everywhere },
];

/// A function of two numbers.
struct Binary {
    name: &'static str,
    truth: fn(f64, f64) -> f64,
    bound: f64,
    within: fn(f32, f32) -> bool,
}

/// True where the fast variants are defined: no infinity, nothing denormal.
fn ordinary(x: f32, y: f32) -> bool {
    let result = f64::from(x).powf(f64::from(y)).abs();
    x.is_normal() && y.is_normal() && (result == 0.0 || result >= 2.0 * f64::from(f32::MIN_POSITIVE))
}

const BINARY: &[Binary] = &[
    Binary { name: "pow", truth: f64::powf, bound: 5.0, within: |_, _| true },
    Binary { name: "fast_pow", truth: f64::powf, bound: 5.0, within: ordinary },
    Binary {
        name: "powr",
        truth: f64::powf,
        bound: 4.0,
        within: |x, y| x.is_sign_positive() && !x.is_nan() && !y.is_nan(),
    },
    Binary { name: "fast_powr", truth: f64::powf, bound: 5.0, within: |x, y| x > 0.0 && ordinary(x, y) },
    Binary { name: "atan2", truth: f64::atan2, bound: 3.0, within: |_, _| true },
    Binary { name: "fmod", truth: |x, y| x % y, bound: 0.0, within: |_, _| true },
];

/// Pairs of all kinds: of any two numbers, of numbers of similar size, and of such that the power has a size of note.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    let special = [0.0, 1.0, 0.5, 2.0, 3.0, 1e-40, 1.5e38, 16_777_215.0, f32::INFINITY, f32::NAN];
    let special: Vec<f32> = special.iter().flat_map(|&x| [x, -x]).collect();
    let mut pairs: Vec<(f32, f32)> = special.iter().flat_map(|&x| special.iter().map(move |&y| (x, y))).collect();
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    for _ in 0..300_000 {
        let x = f32::from_bits(random());
        pairs.push((x, f32::from_bits(random())));
        pairs.push((x, x * (random() as f32 / 2f32.powi(31) - 1.0)));
        let exponent = f64::from(random()) / 2f64.powi(32) * 290.0 - 155.0;
        pairs.push((x, (exponent / f64::from(x).abs().log2()) as f32));
        let near_one = 1.0 + (random() as f32 / 2f32.powi(31) - 1.0) * 0.1;
        pairs.push((near_one, (exponent / f64::from(near_one).log2()) as f32));
        pairs.push((-near_one, (random() % 64) as f32 - 32.0));
    }
    pairs.into_iter().unzip()
}

#[test]
fn functions_of_two_numbers_are_accurate() {
    let (left, right) = pairs();
    let mut table = String::new();
    let mut is_bad = false;
    for function in BINARY {
        let name = format!("air.{}.f32", function.name);
        let arguments = [Array::new("float", &left), Array::new("float", &right)];
        let results: Vec<f32> = apply(&name, "float", &arguments);
        let mut worst = (0.0, (f32::NAN, f32::NAN), f32::NAN, f64::NAN);
        for ((&x, &y), &result) in left.iter().zip(&right).zip(&results) {
            if !(function.within)(x, y) {
                continue;
            }
            let truth = (function.truth)(f64::from(x), f64::from(y));
            let error = error(result, truth);
            if error > worst.0 {
                worst = (error, (x, y), result, truth);
            }
        }
        let (error, x, result, truth) = worst;
        is_bad |= error > function.bound;
        table += &format!(
            "{:12} {error:7.3} (bound {}) at {x:?}: {result:e}, not {truth:e}\n",
            function.name, function.bound
        );
    }
    assert!(!is_bad, "\n{table}");
}

#[test]
fn functions_of_one_number_are_accurate() {
    let inputs = numbers(4001);
    let mut table = String::new();
    let mut is_bad = false;
    for function in UNARY {
        let name = format!("air.{}.f32", function.name);
        let results: Vec<f32> = apply(&name, "float", &[Array::new("float", &inputs)]);
        let mut worst = (0.0, f32::NAN, f32::NAN, f64::NAN);
        for (&x, &result) in inputs.iter().zip(&results).filter(|&(&x, _)| (function.within)(x)) {
            let truth = (function.truth)(f64::from(x));
            let error = error(result, truth);
            if error > worst.0 {
                worst = (error, x, result, truth);
            }
        }
        let (error, x, result, truth) = worst;
        is_bad |= error > function.bound;
        table += &format!(
            "{:12} {error:7.3} (bound {}) at {x:e}: {result:e}, not {truth:e}\n",
            function.name, function.bound
        );
    }
    assert!(!is_bad, "\n{table}");
}
