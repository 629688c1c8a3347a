//! Functions without an error, and values at which all functions are exact.

use super::{THREADS, range, split};
use crate::table::Table;

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
