//! The floating-point functions of `<metal_math>`, in the variants `precise` and `fast` and for `half`, within the errors
//! that the specification allows (tables 8.1 to 8.3).

use crate::numbers::Random;
use crate::table::Table;
use half::f16;
use std::f64::consts::PI;

const THREADS: usize = 200;

/// Numbers from a range, evenly spread or by their exponents.
fn range(seed: u64, low: f64, high: f64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut unit = move || random.next() as f64 / u64::MAX as f64;
    (0..THREADS).map(|_| (low + (high - low) * unit()) as f32).collect()
}

/// Positive numbers of all magnitudes between two.
fn magnitudes(seed: u64, low: f64, high: f64) -> Vec<f32> {
    range(seed, low.log2(), high.log2()).iter().map(|x| f64::from(*x).exp2() as f32).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|x| f64::from(*x)).collect()
}

/// A function of one number: its name, the bounds of both variants, and the exact one.
struct Unary {
    name: &'static str,
    precise: f64,
    fast: Fast,
    exact: fn(f64) -> f64,
}

/// How far off the fast variant may be.
#[derive(Clone, Copy)]
enum Fast {
    /// In units in the last place.
    Ulps(f64),
    /// 3 units, and two more for each unit of the argument.
    Exponential,
    /// By a distance.
    Distance(f64),
    /// By so many units, or by a distance near the zero of the function.
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

/// Functions without an error.
#[test]
fn exact_functions() {
    let x = &edge_values();
    let y = &range(11, -3.0, 3.0);
    let z = &range(12, -3.0, 3.0);
    let mut table = Table::new("exact functions").safe().input("x", x).input("y", y).input("z", z);
    let median = |a: f32, b: f32, c: f32| a.max(b).min(a.min(b).max(c));
    table
        .exact("floor(x)", move |i| x[i].floor())
        .exact("ceil(x)", move |i| x[i].ceil())
        .exact("trunc(x)", move |i| x[i].trunc())
        .exact("round(x)", move |i| x[i].round())
        .exact("rint(x)", move |i| x[i].round_ties_even())
        .exact("fabs(x)", move |i| x[i].abs())
        .exact("abs(x)", move |i| x[i].abs())
        .exact("copysign(x, y)", move |i| x[i].copysign(y[i]))
        .exact("fmin(y, z)", move |i| y[i].min(z[i]))
        .exact("fmax(y, z)", move |i| y[i].max(z[i]))
        .exact("min(y, z)", move |i| y[i].min(z[i]))
        .exact("max(y, z)", move |i| y[i].max(z[i]))
        .exact("fmin(x, NAN)", move |i| x[i])
        .exact("fmax(NAN, x)", move |i| x[i])
        .exact("fmin3(y, z, 0.5f)", move |i| y[i].min(z[i]).min(0.5))
        .exact("fmax3(y, z, 0.5f)", move |i| y[i].max(z[i]).max(0.5))
        .exact("min3(y, z, 0.5f)", move |i| y[i].min(z[i]).min(0.5))
        .exact("max3(y, z, 0.5f)", move |i| y[i].max(z[i]).max(0.5))
        .exact("fmedian3(y, z, 0.5f)", move |i| median(y[i], z[i], 0.5))
        .exact("median3(y, 0.5f, z)", move |i| median(y[i], z[i], 0.5))
        .exact("fdim(y, z)", move |i| if y[i] > z[i] { y[i] - z[i] } else { 0.0 })
        .exact("fract(y)", move |i| y[i] - y[i].floor())
        .exact("fma(y, z, 1.0f)", move |i| y[i].mul_add(z[i], 1.0))
        .exact("float w; r = modf(x, w);", move |i| {
            if x[i].is_infinite() { 0f32.copysign(x[i]) } else { (x[i] - x[i].trunc()).copysign(x[i]) }
        })
        .exact("float w; modf(x, w); r = w;", move |i| x[i].trunc())
        .exact("ldexp(y, 10)", move |i| y[i] * 1024.0)
        .exact("ldexp(y, -20)", move |i| y[i] / 1048576.0)
        .exact("int e; r = frexp(y, e);", move |i| split(y[i]).0)
        .exact("int e; frexp(y, e); r = e;", move |i| split(y[i]).1)
        .exact("ilogb(y)", move |i| split(y[i]).1 - 1)
        .exact("nextafter(y, z)", move |i| if y[i] < z[i] { y[i].next_up() } else { y[i].next_down() })
        .exact("fmod(x, 3.0f)", move |i| x[i] % 3.0)
        .exact("y * z", move |i| y[i] * z[i])
        .exact("y / z", move |i| y[i] / z[i])
        .exact("sqrt(fabs(y))", move |i| y[i].abs().sqrt());
    table.run();
}

/// A number as a fraction in [0.5, 1) and an exponent.
fn split(x: f32) -> (f32, i32) {
    let exponent = (x.to_bits() >> 23 & 255) as i32 - 126;
    ((f64::from(x) / 2f64.powi(exponent)) as f32, exponent)
}

/// Halves, limits and numbers too large to have a fraction.
fn edge_values() -> Vec<f32> {
    let special = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388607.5, 8388609.0, 1e30, -1e30, 3.0000002];
    let infinite = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE];
    let mut values: Vec<f32> = special.into_iter().chain(infinite).collect();
    let rest = THREADS - values.len();
    values.extend(range(13, -100.0, 100.0).into_iter().take(rest));
    values
}

#[test]
fn special_values_of_precise_functions() {
    let x: &Vec<f32> = &[0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 2.0].repeat(5);
    let mut table = Table::new("special values").safe().input("x", x);
    macro_rules! of_f64 {
        ($($text:literal => $exact:expr),* $(,)?) => {$({
            let exact: fn(f64) -> f64 = $exact;
            table.ulps::<f32>($text, 4.0, move |i| exact(f64::from(x[i])));
        })*};
    }
    of_f64!(
        "exp(x)" => f64::exp, "exp2(x)" => f64::exp2, "exp10(x)" => |x| 10f64.powf(x), "log(x)" => f64::ln,
        "log2(x)" => f64::log2, "log10(x)" => f64::log10, "sqrt(x)" => f64::sqrt, "rsqrt(x)" => |x| 1.0 / x.sqrt(),
        "sin(x)" => f64::sin, "cos(x)" => f64::cos, "tan(x)" => f64::tan, "asin(x)" => f64::asin,
        "acos(x)" => f64::acos, "atan(x)" => f64::atan, "sinh(x)" => f64::sinh, "cosh(x)" => f64::cosh,
        "tanh(x)" => f64::tanh, "asinh(x)" => f64::asinh, "acosh(x)" => f64::acosh, "atanh(x)" => f64::atanh,
        "pow(x, 2.0f)" => |x| x.powf(2.0), "pow(x, 0.0f)" => |x| x.powf(0.0), "pow(x, -1.0f)" => |x| x.powf(-1.0),
        "pow(2.0f, x)" => |x| 2f64.powf(x), "pow(x, 0.5f)" => |x| x.powf(0.5), "1.0f / x" => |x| 1.0 / x,
        "atan2(x, 1.0f)" => |x| x.atan2(1.0), "atan2(1.0f, x)" => |x| 1f64.atan2(x), "fmod(x, 2.0f)" => |x| x % 2.0,
    );
    // Zeros keep their signs.
    table
        .exact("x == 0.0f ? sin(x) : 0.0f", move |i| if x[i] == 0.0 { x[i] } else { 0.0 })
        .exact("x == 0.0f ? sqrt(x) : 0.0f", move |i| if x[i] == 0.0 { x[i] } else { 0.0 })
        .exact("x == 0.0f ? tanh(x) : 0.0f", move |i| if x[i] == 0.0 { x[i] } else { 0.0 });
    table.run();
}

/// Within one unit in the last place (table 8.3).
#[test]
fn half_functions() {
    let x: &Vec<f16> = &range(14, -4.0, 4.0).iter().map(|x| f16::from_f32(*x)).collect();
    let p: &Vec<f16> = &magnitudes(15, 0.001, 1000.0).iter().map(|x| f16::from_f32(*x)).collect();
    let u: &Vec<f16> = &range(16, -1.0, 1.0).iter().map(|x| f16::from_f32(*x)).collect();
    let mut table = Table::new("half functions").input("x", x).input("p", p).input("u", u);
    macro_rules! of {
        ($($text:literal, $input:ident, $ulps:literal => $exact:expr);* $(;)?) => {$({
            let exact: fn(f64) -> f64 = $exact;
            table.ulps::<f16>($text, $ulps, move |i| exact(f64::from($input[i])));
        })*};
    }
    of!(
        "exp(x)", x, 1.0 => f64::exp; "exp2(x)", x, 1.0 => f64::exp2; "exp10(x)", x, 1.0 => |x| 10f64.powf(x);
        "sin(x)", x, 1.0 => f64::sin; "cos(x)", x, 1.0 => f64::cos; "tan(x)", x, 1.0 => f64::tan;
        "sinh(x)", x, 1.0 => f64::sinh; "cosh(x)", x, 1.0 => f64::cosh; "tanh(x)", x, 1.0 => f64::tanh;
        "asinh(x)", x, 1.0 => f64::asinh; "atan(x)", x, 1.0 => f64::atan;
        "log(p)", p, 1.0 => f64::ln; "log2(p)", p, 1.0 => f64::log2; "log10(p)", p, 1.0 => f64::log10;
        "sqrt(p)", p, 0.5 => f64::sqrt; "rsqrt(p)", p, 0.5 => |x| 1.0 / x.sqrt();
        "asin(u)", u, 1.0 => f64::asin; "acos(u)", u, 1.0 => f64::acos; "atanh(u)", u, 1.0 => f64::atanh;
        "sinpi(x)", x, 1.0 => |x| (PI * x).sin(); "cospi(x)", x, 1.0 => |x| (PI * x).cos();
        "floor(x)", x, 0.0 => f64::floor; "ceil(x)", x, 0.0 => f64::ceil; "trunc(x)", x, 0.0 => f64::trunc;
        "round(x)", x, 0.0 => f64::round; "rint(x)", x, 0.0 => f64::round_ties_even; "fabs(x)", x, 0.0 => f64::abs;
        "fract(x)", x, 0.5 => |x| x - x.floor();
    );
    table
        .ulps::<f16>("pow(p, x)", 4.0, move |i| f64::from(p[i]).powf(f64::from(x[i])))
        .ulps::<f16>("atan2(x, p)", 1.0, move |i| f64::from(x[i]).atan2(f64::from(p[i])))
        .ulps::<f16>("x / p", 0.5, move |i| f64::from(x[i]) / f64::from(p[i]))
        .ulps::<f16>("fma(x, p, u)", 0.5, move |i| f64::from(x[i]).mul_add(f64::from(p[i]), f64::from(u[i])))
        .ulps::<f16>("fmod(p, x)", 0.0, move |i| f64::from(p[i]) % f64::from(x[i]))
        .ulps::<f16>("fmax(x, u)", 0.0, move |i| f64::from(x[i]).max(f64::from(u[i])))
        .ulps::<f16>("fmin(x, u)", 0.0, move |i| f64::from(x[i]).min(f64::from(u[i])))
        .ulps::<f16>("ldexp(x, 3)", 0.0, move |i| f64::from(x[i]) * 8.0);
    table.run();
}

/// Functions on vectors are those on their components.
#[test]
fn vector_functions() {
    let v: &Vec<[f32; 4]> =
        &(0..THREADS / 4).map(|k| std::array::from_fn(|c| range(17, 0.1, 4.0)[k * 4 + c])).collect();
    let mut table = Table::new("functions on vectors").input("v", v);
    let each = move |i: usize, f: fn(f64) -> f64| v[i].map(|x| f(f64::from(x)));
    let three = move |i: usize, f: fn(f64) -> f64| [0, 1, 2].map(|k| f(f64::from(v[i][k])));
    table
        .ulps::<[f32; 4]>("precise::exp(v)", 4.0, move |i| each(i, f64::exp))
        .ulps::<[f32; 3]>("precise::log(v.xyz)", 4.0, move |i| three(i, f64::ln))
        .ulps::<[f32; 4]>("precise::sin(v)", 4.0, move |i| each(i, f64::sin))
        .ulps::<[f32; 4]>("precise::sqrt(v)", 0.5, move |i| each(i, f64::sqrt))
        .ulps::<[f32; 4]>("fast::exp2(v)", 12.0, move |i| each(i, f64::exp2))
        .ulps::<[f32; 3]>("fast::rsqrt(v.xyz)", 2.0, move |i| three(i, |x| 1.0 / x.sqrt()))
        .ulps::<[f32; 4]>("precise::pow(v, float4(1.5f))", 16.0, move |i| each(i, |x| x.powf(1.5)))
        .ulps::<[f32; 4]>("precise::tanh(v)", 5.0, move |i| each(i, f64::tanh))
        .ulps::<[f32; 4]>("floor(v)", 0.0, move |i| each(i, f64::floor))
        .ulps::<[f32; 4]>("fmax(v, float4(2.0f))", 0.0, move |i| each(i, |x| x.max(2.0)))
        .ulps::<[f32; 4]>("fma(v, v, v)", 0.5, move |i| each(i, |x| x * x + x))
        .ulps::<[f32; 4]>("float4 c; precise::sincos(v, c); r = c;", 4.0, move |i| each(i, f64::cos))
        .ulps::<[f16; 4]>("exp(half4(v) - 4.0h)", 2.0, move |i| {
            v[i].map(|x| f64::from(f16::from_f32(f16::from_f32(x).to_f32() - 4.0)).exp())
        })
        .exact("int4 e; float4 m = frexp(v, e); r = e + int4(m * 0);", move |i| v[i].map(|x| split(x).1))
        .exact("ilogb(v)", move |i| v[i].map(|x| split(x).1 - 1))
        .exact("float2 w; float2 f = modf(v.xy, w); r = w + f * 0;", move |i| [v[i][0].trunc(), v[i][1].trunc()])
        .exact("ldexp(v, int4(1, 2, 3, 4))", move |i| {
            std::array::from_fn::<f32, 4, _>(|k| v[i][k] * (2 << k) as f32)
        });
    table.run();
}
