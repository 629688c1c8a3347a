//! The same functions on `half` and on vectors.

use super::{THREADS, magnitudes, range, split};
use crate::table::Table;
use half::f16;
use std::f64::consts::PI;

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
