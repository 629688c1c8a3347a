//! Special values: signs of zero, infinities, NaN; and functions that are exact or that fill a vector.

use super::run::{Array, Truth, apply};
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// The same number, zeros with their signs.
fn is_same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn unary(name: &str, cases: &[(f32, f32)]) {
    let inputs: Vec<f32> = cases.iter().map(|case| case.0).collect();
    let results: Vec<f32> = apply(&format!("air.{name}.f32"), "float", &[Array::new("float", &inputs)]);
    for (&(x, expected), &result) in cases.iter().zip(&results) {
        assert!(is_same(result, expected), "{name}({x}) = {result:e}, not {expected:e}");
    }
}

fn binary(name: &str, cases: &[(f32, f32, f32)]) {
    let left: Vec<f32> = cases.iter().map(|case| case.0).collect();
    let right: Vec<f32> = cases.iter().map(|case| case.1).collect();
    let arguments = [Array::new("float", &left), Array::new("float", &right)];
    let results: Vec<f32> = apply(&format!("air.{name}.f32"), "float", &arguments);
    for (&(x, y, expected), &result) in cases.iter().zip(&results) {
        assert!(is_same(result, expected), "{name}({x}, {y}) = {result:e}, not {expected:e}");
    }
}

#[test]
fn exponentials_at_their_limits() {
    for name in ["exp", "fast_exp", "exp2", "fast_exp2", "exp10", "fast_exp10"] {
        unary(name, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (1000.0, INF), (-1000.0, 0.0), (NAN, NAN)]);
    }
    unary("fast_exp", &[(f32::MAX, INF), (f32::MIN, 0.0), (88.8, INF), (-88.0, 0.0)]);
    unary("exp", &[(-103.0, 1.0e-45), (-104.5, 0.0), (88.72284, INF)]);
    unary("exp2", &[(-149.0, 1e-45), (127.0, 1.701_411_8e38), (128.0, INF), (-151.0, 0.0), (10.0, 1024.0)]);
    unary("fast_exp2", &[(127.0, 1.701_411_8e38), (128.0, INF), (10.0, 1024.0), (-1.0, 0.5)]);
}

#[test]
fn logarithms_at_their_limits() {
    for name in ["log", "fast_log", "log2", "fast_log2", "log10", "fast_log10"] {
        unary(name, &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)]);
    }
    unary("log2", &[(1e-45, -149.0), (8.0, 3.0), (0.125, -3.0)]);
    unary("log10", &[(1000.0, 3.0), (1e10, 10.0)]);
}

#[test]
fn odd_functions_keep_the_sign_of_zero() {
    for name in ["sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sinpi", "tanpi"] {
        unary(name, &[(0.0, 0.0), (-0.0, -0.0), (NAN, NAN)]);
    }
    for name in ["sin", "cos", "tan", "sinpi", "cospi", "tanpi", "fast_sin", "fast_cos", "fast_tan"] {
        unary(name, &[(INF, NAN), (-INF, NAN), (NAN, NAN)]);
    }
    unary("cos", &[(0.0, 1.0), (-0.0, 1.0)]);
    unary("fast_cos", &[(0.0, 1.0)]);
    unary("cospi", &[(0.0, 1.0), (1.0, -1.0), (2.0, 1.0), (16_777_215.0, -1.0), (1e30, 1.0)]);
    unary("sinpi", &[(0.5, 1.0), (1.5, -1.0), (-0.5, -1.0), (2_097_152.5, 1.0)]);
}

#[test]
fn other_limits() {
    unary("tanh", &[(INF, 1.0), (-INF, -1.0), (20.0, 1.0), (100.0, 1.0)]);
    unary("fast_tanh", &[(INF, 1.0), (-INF, -1.0), (20.0, 1.0), (0.0, 0.0), (NAN, NAN)]);
    unary("sinh", &[(INF, INF), (-INF, -INF), (100.0, INF)]);
    unary("cosh", &[(INF, INF), (-INF, INF), (0.0, 1.0), (NAN, NAN)]);
    unary("asin", &[(1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2), (1.1, NAN), (INF, NAN)]);
    unary("acos", &[(1.0, 0.0), (-1.0, PI), (0.0, FRAC_PI_2), (-1.1, NAN), (NAN, NAN)]);
    unary("atan", &[(INF, FRAC_PI_2), (-INF, -FRAC_PI_2), (1.0, FRAC_PI_4)]);
    unary("asinh", &[(INF, INF), (-INF, -INF)]);
    unary("acosh", &[(1.0, 0.0), (0.5, NAN), (INF, INF), (NAN, NAN)]);
    unary("atanh", &[(1.0, INF), (-1.0, -INF), (2.0, NAN)]);
    unary("rsqrt", &[(0.0, INF), (INF, 0.0), (4.0, 0.5), (-1.0, NAN)]);
    unary("sqrt", &[(0.0, 0.0), (INF, INF), (-1.0, NAN), (2.25, 1.5)]);
}

#[test]
fn powers_as_c_has_them() {
    binary(
        "pow",
        &[
            (0.0, 2.0, 0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (0.0, -1.0, INF),
            (-0.0, -3.0, -INF),
            (-0.0, -2.0, INF),
            (-2.0, 3.0, -8.0),
            (-2.0, 2.0, 4.0),
            (-2.0, 0.5, NAN),
            (NAN, 0.0, 1.0),
            (1.0, NAN, 1.0),
            (2.0, NAN, NAN),
            (NAN, 1.0, NAN),
            (-1.0, INF, 1.0),
            (-1.0, -INF, 1.0),
            (2.0, INF, INF),
            (2.0, -INF, 0.0),
            (0.5, INF, 0.0),
            (0.5, -INF, INF),
            (INF, 0.5, INF),
            (INF, -0.5, 0.0),
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, -3.0, -0.0),
            (-INF, 0.5, INF),
            (0.0, INF, 0.0),
            (0.0, -INF, INF),
            (10.0, 2.0, 100.0),
            (2.0, -149.0, 1e-45),
            (2.0, 128.0, INF),
        ],
    );
    binary(
        "fast_pow",
        &[
            (0.0, 2.0, 0.0),
            (0.0, -1.0, INF),
            (-2.0, 3.0, -8.0),
            (-2.0, 2.0, 4.0),
            (-2.0, 0.5, NAN),
            (5.0, 0.0, 1.0),
            (2.0, 1000.0, INF),
            (2.0, -1000.0, 0.0),
            (NAN, 1.0, NAN),
            (2.0, NAN, NAN),
            (10000.0, 0.0, 1.0),
        ],
    );
    binary("powr", &[(0.0, 2.0, 0.0), (0.0, -2.0, INF), (-1.0, 2.0, NAN), (4.0, 0.5, 2.0), (INF, 2.0, INF)]);
    binary("fast_powr", &[(0.0, 2.0, 0.0), (0.0, -2.0, INF), (-1.0, 2.0, NAN), (4.0, 0.5, 2.0)]);
}

#[test]
fn angles_of_all_directions() {
    binary(
        "atan2",
        &[
            (0.0, 1.0, 0.0),
            (-0.0, 1.0, -0.0),
            (0.0, -1.0, PI),
            (-0.0, -1.0, -PI),
            (0.0, 0.0, 0.0),
            (-0.0, 0.0, -0.0),
            (0.0, -0.0, PI),
            (-0.0, -0.0, -PI),
            (1.0, 0.0, FRAC_PI_2),
            (-1.0, 0.0, -FRAC_PI_2),
            (1.0, INF, 0.0),
            (1.0, -INF, PI),
            (INF, 1.0, FRAC_PI_2),
            (INF, INF, FRAC_PI_4),
            (INF, -INF, 0.75 * PI),
            (-INF, INF, -FRAC_PI_4),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (3e38, 3e38, FRAC_PI_4),
            (1e-44, 1e-44, FRAC_PI_4),
        ],
    );
}

#[test]
fn remainders() {
    binary(
        "fmod",
        &[
            (5.0, 3.0, 2.0),
            (-5.0, 3.0, -2.0),
            (5.0, -3.0, 2.0),
            (6.0, 3.0, 0.0),
            (-6.0, 3.0, -0.0),
            (1.0, 0.0, NAN),
            (INF, 1.0, NAN),
            (1.0, INF, 1.0),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (-0.0, 1.0, -0.0),
            (3e38, 1e-45, 0.0),
        ],
    );
    binary("fast_fmod", &[(5.0, 3.0, 2.0), (-5.0, 3.0, -2.0), (5.5, -2.0, 1.5)]);
}

#[test]
fn rounding() {
    let inputs = [0.0, -0.0, 0.3, 0.5, 0.499_999_97, 1.5, 2.5, 8_388_607.5, 1e20, INF, NAN];
    let both: Vec<f32> = inputs.iter().flat_map(|&x| [x, -x]).collect();
    let functions: [(&str, Truth); 5] = [
        ("floor", f32::floor),
        ("ceil", f32::ceil),
        ("trunc", f32::trunc),
        ("round", f32::round),
        ("rint", f32::round_ties_even),
    ];
    for (name, truth) in functions {
        let cases: Vec<(f32, f32)> = both.iter().map(|&x| (x, truth(x))).collect();
        unary(name, &cases);
        unary(&format!("fast_{name}"), &cases);
    }
    unary(
        "fract",
        &[(1.25, 0.25), (-1.25, 0.75), (-1e-10, 1.0 - 2f32.powi(-24)), (3.0, 0.0), (INF, 0.0), (NAN, NAN)],
    );
}

#[test]
fn choices_between_numbers() {
    binary("fmin", &[(1.0, 2.0, 1.0), (NAN, 2.0, 2.0), (1.0, NAN, 1.0), (NAN, NAN, NAN), (-INF, 0.0, -INF)]);
    binary("fmax", &[(1.0, 2.0, 2.0), (NAN, 2.0, 2.0), (1.0, NAN, 1.0), (NAN, NAN, NAN), (-INF, 0.0, 0.0)]);
    binary("fast_fmax", &[(1.0, 2.0, 2.0), (NAN, 2.0, 2.0), (-INF, -INF, -INF), (-INF, 1.0, 1.0)]);
    binary("fdim", &[(3.0, 1.0, 2.0), (1.0, 3.0, 0.0), (NAN, 1.0, NAN), (INF, INF, 0.0)]);
    for name in ["saturate", "fast_saturate"] {
        unary(name, &[(-1.0, 0.0), (0.5, 0.5), (2.0, 1.0), (NAN, 0.0), (INF, 1.0), (-INF, 0.0)]);
    }
    unary("sign", &[(3.0, 1.0), (-3.0, -1.0), (0.0, 0.0), (-0.0, -0.0), (NAN, 0.0), (-INF, -1.0)]);
    let columns = [[5.0f32, 0.0, NAN], [1.0, 1.0, 1.0], [3.0, 3.0, 3.0]];
    let arguments = columns.each_ref().map(|column| Array::new("float", column));
    let clamped: Vec<f32> = apply("air.clamp.f32", "float", &arguments);
    assert_eq!(clamped, [3.0, 1.0, 1.0]);
    let mixed: Vec<f32> = apply("air.mix.f32", "float", &arguments);
    assert_eq!(mixed[..2], [-7.0, 3.0]);
    for (name, expected) in [("fmin3", 1.0), ("fmax3", 5.0), ("fmedian3", 3.0)] {
        let results: Vec<f32> = apply(&format!("air.{name}.f32"), "float", &arguments);
        assert_eq!(results[0], expected, "{name}");
    }
}

#[test]
fn scaling_by_powers_of_two() {
    let numbers = [1.0f32, 1.5, -3.0, 1e-40, 1e-45, f32::MAX, 0.0, -0.0, INF, NAN, 1.999_999_9];
    let exponents =
        [0, 1, -1, 100, 127, 128, 200, 276, 277, -100, -126, -127, -149, -150, -200, -277, i32::MAX, i32::MIN];
    let (left, right): (Vec<f32>, Vec<i32>) =
        numbers.iter().flat_map(|&x| exponents.iter().map(move |&k| (x, k))).unzip();
    let results: Vec<f32> =
        apply("air.ldexp.f32", "float", &[Array::new("float", &left), Array::new("i32", &right)]);
    for ((&x, &k), &result) in left.iter().zip(&right).zip(&results) {
        // 2^k is exact in f64 as far as it matters, and there is one rounding.
        let expected = (f64::from(x) * 2f64.powi(k.clamp(-600, 600))) as f32;
        assert!(is_same(result, expected), "ldexp({x}, {k}) = {result:e}, not {expected:e}");
    }
}

#[test]
fn neighbours_and_exponents() {
    binary(
        "nextafter",
        &[
            (1.0, 2.0, 1.0 + f32::EPSILON),
            (0.0, 1.0, 1e-45),
            (0.0, -1.0, -1e-45),
            (1.0, 1.0, 1.0),
            (NAN, 1.0, NAN),
            (f32::MAX, INF, INF),
        ],
    );
    let inputs = [1.0f32, 0.75, 1024.0, 1e-45, -8.0];
    let results: Vec<i32> = apply("air.ilogb.f32", "i32", &[Array::new("float", &inputs)]);
    assert_eq!(results, [0, -1, 10, -149, 3]);
}

/// A loop that stores the first result and what the function leaves in memory, one after the other.
fn with_two_results(name: &str, ty: &str, second: &str) -> String {
    format!(
        "
declare {ty} @air.{name}({ty}, ptr)
define void @run(ptr %a, ptr %out, i64 %n) {{
entry:
  %place = alloca {second}
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr {ty}, ptr %a, i64 %i
  %x = load {ty}, ptr %p, align 4
  %first = call {ty} @air.{name}({ty} %x, ptr %place)
  %second = load {second}, ptr %place
  %q = getelementptr {{ {ty}, {second} }}, ptr %out, i64 %i
  store {ty} %first, ptr %q, align 4
  %r = getelementptr {{ {ty}, {second} }}, ptr %out, i64 %i, i32 1
  store {second} %second, ptr %r, align 4
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"
    )
}

#[test]
fn functions_with_two_results() {
    let inputs = [0.5f32, -2.75, 1e10];
    let array = [Array::new("float", &inputs)];
    for name in ["sincos.f32", "fast_sincos.f32"] {
        let results: Vec<[f32; 2]> = super::run::apply_ir(&with_two_results(name, "float", "float"), &array);
        for (&x, [sine, cosine]) in inputs.iter().zip(results).take(if name == "sincos.f32" { 3 } else { 2 }) {
            assert!((sine - x.sin()).abs() < 2e-7 && (cosine - x.cos()).abs() < 2e-7, "{x}: {sine} {cosine}");
        }
    }
    let results: Vec<[f32; 2]> = super::run::apply_ir(&with_two_results("modf.f32", "float", "float"), &array);
    assert_eq!(results, [[0.5, 0.0], [-0.75, -2.0], [0.0, 1e10]]);
    let results: Vec<(f32, i32)> = super::run::apply_ir(&with_two_results("frexp.f32", "float", "i32"), &array);
    assert_eq!(results, [(0.5, 0), (-0.6875, 2), (0.582_076_6, 34)]);
}

#[test]
fn dot_products_and_votes_of_components() {
    let (left, right) = ([[1.0f32, 2.0, 3.0, 4.0]], [[5.0f32, 6.0, 7.0, 8.0]]);
    let arguments = [Array::new("<4 x float>", &left), Array::new("<4 x float>", &right)];
    assert_eq!(apply::<f32>("air.dot.v4f32", "float", &arguments), [70.0]);
    let exponentials: Vec<[f32; 4]> =
        apply("air.fast_exp.v4f32", "<4 x float>", &[Array::new("<4 x float>", &[[0.0f32, 1.0, -INF, INF]])]);
    assert_eq!(exponentials[0][0], 1.0);
    assert!((exponentials[0][1] - std::f32::consts::E).abs() < 1e-6);
    assert_eq!(exponentials[0][2..], [0.0, INF]);
}

#[test]
fn packed_components() {
    let four = [[0.0f32, 1.0, 0.5, 2.0], [-1.0, NAN, 0.25, 1.0 / 255.0]];
    let pack = |name: &str| -> Vec<u32> { apply(name, "i32", &[Array::new("<4 x float>", &four)]) };
    assert_eq!(pack("air.pack.unorm4x8.v4f32"), [0xff80_ff00, 0x0140_0000]);
    assert_eq!(pack("air.pack.snorm4x8.v4f32"), [0x7f40_7f00, 0x0020_0081]);
    assert_eq!(pack("air.pack.unorm.rgb10a2.v4f32")[0], 3 << 30 | 512 << 20 | 1023 << 10);
    assert_eq!(pack("air.pack.unorm4x8.srgb.v4f32")[0], 0xffbc_ff00);
    let two = [[1.0f32, -1.0]];
    assert_eq!(apply::<u32>("air.pack.snorm2x16.v2f32", "i32", &[Array::new("<2 x float>", &two)]), [0x8001_7fff]);
    assert_eq!(apply::<u32>("air.pack.unorm2x16.v2f32", "i32", &[Array::new("<2 x float>", &two)]), [0x0000_ffff]);
    let three = [[1.0f32, 0.0, 1.0, 0.0]];
    assert_eq!(apply::<u16>("air.pack.unorm.rgb565.v3f32", "i16", &[Array::new("<3 x float>", &three)]), [0xf81f]);

    let words = [0xff80_7f01u32];
    let word = [Array::new("i32", &words)];
    let unpack = |name: &str| apply::<[f32; 4]>(name, "<4 x float>", &word)[0];
    assert_eq!(unpack("air.unpack.unorm4x8.v4f32"), [1.0 / 255.0, 127.0 / 255.0, 128.0 / 255.0, 1.0]);
    assert_eq!(unpack("air.unpack.snorm4x8.v4f32"), [1.0 / 127.0, 1.0, -1.0, -1.0 / 127.0]);
    assert_eq!(
        apply::<[f32; 2]>("air.unpack.snorm2x16.v2f32", "<2 x float>", &word),
        [[32513.0 / 32767.0, -128.0 / 32767.0]]
    );
    assert_eq!(apply::<[f32; 2]>("air.unpack.unorm2x16.v2f32", "<2 x float>", &word)[0][1], 65408.0 / 65535.0);
    assert_eq!(unpack("air.unpack.unorm.rgb10a2.v4f32")[3], 1.0);
    let linear = unpack("air.unpack.unorm4x8.srgb.v4f32");
    assert!((linear[1] - 0.212_231).abs() < 1e-5 && linear[3] == 1.0, "{linear:?}");
    let red = [0xf800u16];
    assert_eq!(
        apply::<[f32; 4]>("air.unpack.unorm.rgb565.v3f32", "<3 x float>", &[Array::new("i16", &red)])[0][..3],
        [1.0, 0.0, 0.0]
    );
}

/// Fast mathematics promises that there is no NaN and no infinity, and kernels have them all the same.
#[test]
fn promises_of_fast_mathematics_are_not_believed() {
    const SOURCE: &str = "
declare float @air.fast_fmax.f32(float, float)
define void @run(ptr %a, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %largest = phi fast float [ 0xFFF0000000000000, %entry ], [ %larger, %loop ]
  %p = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %p, align 4
  %larger = call fast float @air.fast_fmax.f32(float %largest, float %x)
  %is_infinite = fcmp fast oeq float %larger, 0xFFF0000000000000
  %is_nan = fcmp fast uno float %x, 0.0
  %chosen = select i1 %is_nan, float 2.0, float %larger
  %result = select i1 %is_infinite, float 1.0, float %chosen
  %q = getelementptr float, ptr %out, i64 %i
  store float %result, ptr %q, align 4
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
";
    let inputs = [-INF, 5.0, -1.0, INF, NAN];
    let results: Vec<f32> = super::run::apply_ir(SOURCE, &[Array::new("float", &inputs)]);
    assert_eq!(results, [1.0, 5.0, 5.0, INF, 2.0]);
}

/// LLVM's own functions, which its passes put in the place of AIR's.
#[test]
fn functions_of_llvm() {
    let inputs = [0.0f32, 1.0, -2.5, 300.0];
    let array = [Array::new("float", &inputs)];
    let functions: [(&str, Truth); 6] = [
        ("exp", f32::exp),
        ("log2", f32::log2),
        ("sin", f32::sin),
        ("tanh", f32::tanh),
        ("exp10", |x| 10f32.powf(x)),
        ("atan", f32::atan),
    ];
    for (name, truth) in functions {
        let results: Vec<f32> = apply(&format!("llvm.{name}.f32"), "float", &array);
        for (&x, result) in inputs.iter().zip(results) {
            let expected = truth(x);
            let is_close = is_same(result, expected) || (result - expected).abs() <= 1e-6 * expected.abs();
            assert!(is_close, "llvm.{name}({x}) = {result}, not {expected}");
        }
    }
    let exponents = [3i32, -2, 3, 1];
    let powers: Vec<f32> = apply("llvm.powi.f32.i32", "float", &[array[0], Array::new("i32", &exponents)]);
    assert_eq!(powers, [0.0, 1.0, -15.625, 300.0]);
    let scaled: Vec<f32> = apply("llvm.ldexp.f32.i32", "float", &[array[0], Array::new("i32", &exponents)]);
    assert_eq!(scaled, [0.0, 0.25, -20.0, 600.0]);
    assert_eq!(apply::<u8>("llvm.fptoui.sat.i8.f32", "i8", &array), [0, 1, 0, 255]);
    let halves = inputs.map(half::f16::from_f32);
    let floors: Vec<half::f16> = apply("llvm.floor.f16", "half", &[Array::new("half", &halves)]);
    assert_eq!(floors.iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [0.0, 1.0, -3.0, 300.0]);
}

#[test]
fn unknown_functions_are_named() {
    let context = inkwell::context::Context::create();
    let mut module = context.create_module("test");
    let float = context.f32_type();
    let read = module.add_function("air.read_texture_2d.v4f32", float.fn_type(&[float.into()], false), None);
    let caller = module.add_function("caller", float.fn_type(&[float.into()], false), None);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(caller, ""));
    let call = builder.build_call(read, &[float.const_zero().into()], "").expect("a call");
    builder.build_return(call.try_as_basic_value().basic().as_ref().map(|value| value as _)).expect("a return");
    let error = crate::expand::expand(&mut module).expect_err("it is not supported");
    assert_eq!(error.to_string(), "the function 'air.read_texture_2d.v4f32' is not supported");
}
