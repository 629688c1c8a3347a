//! Functions with an error, and the bounds of both variants.

use super::{THREADS, magnitudes, range, wide};
use crate::table::Table;
use std::f64::consts::PI;

/// A function of one number: its name, the bounds of both variants, and the exact one.
struct Unary {
    name: &'static str,
    precise: f64,
    fast: Fast,
    exact: fn(f64) -> f64,
}

/// Error bound of the fast variant.
#[derive(Clone, Copy)]
enum Fast {
    /// In units in the last place.
    Ulps(f64),
    /// 3 units, and two more for each unit of the argument.
    Exponential,
    /// By a distance.
    Distance(f64),
    /// In units in the last place, or by a distance near the zero of the function.
    UlpsOr(f64, f64),
}

const fn unary(name: &'static str, precise: f64, fast: Fast, exact: fn(f64) -> f64) -> Unary {
    Unary { name, precise, fast, exact }
}

fn check(table_name: &'static str, inputs: &[f32], functions: &[Unary]) {
    let exact_inputs = &wide(inputs);
    let mut table = Table::new(table_name).input("x", inputs);
    for Unary { name, precise, fast, exact } in functions {
        let value = move |i: usize| exact(exact_inputs[i]);
        table.ulps::<f32>(&format!("precise::{name}(x)"), *precise, value);
        let text = format!("fast::{name}(x)");
        match *fast {
            Fast::Ulps(ulps) => table.ulps::<f32>(&text, ulps, value),
            Fast::Distance(distance) => table.near::<f32>(&text, move |i| (value(i), distance)),
            Fast::Exponential => table.near::<f32>(&text, move |i| {
                let ulps = 3.0 + (2.0 * exact_inputs[i]).abs().floor();
                (value(i), ulps * ulp(value(i)))
            }),
            Fast::UlpsOr(ulps, distance) => {
                table.near::<f32>(&text, move |i| (value(i), distance.max(ulps * ulp(value(i)))))
            }
        };
    }
    table.run();
}

/// The distance between neighbouring `float`s around a number.
fn ulp(x: f64) -> f64 {
    let exponent = if x == 0.0 { -126 } else { x.abs().log2().floor() as i32 };
    2f64.powi(exponent.max(-126) - 23)
}

#[test]
fn exponential_functions() {
    check(
        "exponential functions",
        &range(1, -87.0, 88.0),
        &[
            unary("exp", 4.0, Fast::Exponential, f64::exp),
            unary("exp2", 4.0, Fast::Exponential, f64::exp2),
            unary("exp10", 4.0, Fast::Ulps(512.0), |x| 10f64.powf(x)),
            unary("tanh", 5.0, Fast::Ulps(16.0), f64::tanh),
            unary("sinh", 4.0, Fast::Ulps(300.0), f64::sinh),
            unary("cosh", 4.0, Fast::Ulps(300.0), f64::cosh),
        ],
    );
}

#[test]
fn small_arguments() {
    check(
        "small arguments",
        &range(2, -1.0, 1.0),
        &[
            unary("exp", 4.0, Fast::Exponential, f64::exp),
            unary("exp2", 4.0, Fast::Exponential, f64::exp2),
            unary("exp10", 4.0, Fast::Ulps(16.0), |x| 10f64.powf(x)),
            // The fast ones are written with the exponential function and lose digits near zero.
            unary("tanh", 5.0, Fast::Distance(1e-6), f64::tanh),
            unary("sinh", 4.0, Fast::Distance(1e-6), f64::sinh),
            unary("cosh", 4.0, Fast::Ulps(16.0), f64::cosh),
            unary("sin", 4.0, Fast::Distance(0.000_122_1), f64::sin),
            unary("cos", 4.0, Fast::Distance(0.000_122_1), f64::cos),
            unary("tan", 6.0, Fast::Distance(0.001), f64::tan),
            unary("asin", 4.0, Fast::Ulps(5.0), f64::asin),
            unary("acos", 4.0, Fast::Ulps(5.0), f64::acos),
            unary("atan", 5.0, Fast::Ulps(5.0), f64::atan),
            unary("asinh", 4.0, Fast::Distance(1e-6), f64::asinh),
            unary("atanh", 5.0, Fast::Distance(1e-5), f64::atanh),
            unary("sinpi", 4.0, Fast::Distance(0.000_122_1), |x| (PI * x).sin()),
            unary("cospi", 4.0, Fast::Distance(0.000_122_1), |x| (PI * x).cos()),
        ],
    );
}

#[test]
fn trigonometric_functions() {
    check(
        "between -pi and pi",
        &range(3, -PI, PI),
        &[
            unary("sin", 4.0, Fast::Distance(0.000_122_1), f64::sin),
            unary("cos", 4.0, Fast::Distance(0.000_122_1), f64::cos),
            unary("tanpi", 6.0, Fast::UlpsOr(8192.0, 0.001), |x| (PI * x).tan()),
        ],
    );
    // Only the precise variants have bounds for large arguments.
    for (name, inputs) in
        [("large arguments", range(4, -5000.0, 5000.0)), ("huge arguments", magnitudes(5, 1e4, 1e38))]
    {
        let x = &wide(&inputs);
        let mut table = Table::new(name).input("x", &inputs);
        table
            .ulps::<f32>("precise::sin(x)", 4.0, move |i| x[i].sin())
            .ulps::<f32>("precise::cos(x)", 4.0, move |i| x[i].cos())
            .ulps::<f32>("precise::tan(x)", 6.0, move |i| x[i].tan())
            .ulps::<f32>("float c; r = precise::sincos(x, c);", 4.0, move |i| x[i].sin())
            .ulps::<f32>("float c; float s = precise::sincos(x, c); r = s * 0 + c;", 4.0, move |i| x[i].cos());
        table.run();
    }
}

#[test]
fn logarithms_and_roots() {
    check(
        "logarithms and roots",
        &magnitudes(6, 1e-37, 1e38),
        &[
            unary("log", 4.0, Fast::UlpsOr(3.0, 4.8e-7), f64::ln),
            unary("log2", 4.0, Fast::UlpsOr(2.0, 2.4e-7), f64::log2),
            unary("log10", 4.0, Fast::UlpsOr(4.0, 4.8e-7), f64::log10),
            unary("sqrt", 0.5, Fast::Ulps(4.0), f64::sqrt),
            unary("rsqrt", 0.5, Fast::Ulps(2.0), |x| 1.0 / x.sqrt()),
            unary("atan", 5.0, Fast::Ulps(5.0), f64::atan),
        ],
    );
    check(
        "around one",
        &range(7, 0.5, 2.0),
        &[
            unary("log", 4.0, Fast::Distance(4.8e-7), f64::ln),
            unary("log2", 4.0, Fast::Distance(2.4e-7), f64::log2),
            unary("log10", 4.0, Fast::Distance(4.8e-7), f64::log10),
            unary("sqrt", 0.5, Fast::Ulps(4.0), f64::sqrt),
            unary("rsqrt", 0.5, Fast::Ulps(2.0), |x| 1.0 / x.sqrt()),
        ],
    );
    check(
        "hyperbolic functions of large arguments",
        &magnitudes(8, 1.0, 1e15),
        &[
            unary("asinh", 4.0, Fast::Ulps(8.0), f64::asinh),
            unary("acosh", 4.0, Fast::UlpsOr(8.0, 1e-3), f64::acosh),
        ],
    );
}

#[test]
fn powers() {
    let (x, y) = (&magnitudes(9, 1e-3, 1e3), &range(10, -12.0, 12.0));
    let (wx, wy) = (&wide(x), &wide(y));
    let n: &Vec<f32> = &(0..THREADS).map(|i| (i % 15) as f32 - 7.0).collect();
    let exact = move |i: usize| wx[i].powf(wy[i]);
    let of_negative = move |i: usize| (-wx[i]).powf(f64::from(n[i]));
    // exp2(y * log2(x)): the error of the product grows with its size.
    let fast = move |i: usize| (exact(i), ulp(exact(i)) * (8.0 + 8.0 * (wy[i] * wx[i].log2()).abs()));
    let mut table = Table::new("powers").input("x", x).input("y", y).input("n", n);
    table
        .ulps::<f32>("precise::pow(x, y)", 16.0, exact)
        .ulps::<f32>("precise::powr(x, y)", 16.0, exact)
        .ulps::<f32>("precise::pow(-x, n)", 16.0, of_negative)
        .near::<f32>("fast::pow(x, y)", fast)
        .near::<f32>("fast::powr(x, y)", fast)
        .ulps::<f32>("precise::atan2(y, x)", 6.0, move |i| wy[i].atan2(wx[i]))
        .ulps::<f32>("precise::atan2(y, -x)", 6.0, move |i| wy[i].atan2(-wx[i]))
        .ulps::<f32>("fast::atan2(y, x)", 8.0, move |i| wy[i].atan2(wx[i]))
        .ulps::<f32>("precise::divide(x, y)", 0.5, move |i| wx[i] / wy[i])
        .ulps::<f32>("fast::divide(x, y)", 2.5, move |i| wx[i] / wy[i])
        .exact("precise::fmod(x, y)", move |i| x[i] % y[i])
        .exact("fma(x, y, n)", move |i| x[i].mul_add(y[i], n[i]))
        .ulps::<f32>("x / y", 2.5, move |i| wx[i] / wy[i]);
    table.run();
}
