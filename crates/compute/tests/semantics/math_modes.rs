//! Guarantees of safe math, and what fast math preserves: NaN, infinities, signs of zero, the order of operations, and
//! small numbers.

use crate::harness::{TestLibrary, expect};
use crate::table::Table;
use half::f16;

/// Special values in all combinations.
fn pairs() -> (Vec<f32>, Vec<f32>) {
    let values = [0.0, -0.0, 1.0, -1.5, 1e30, -1e-30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let all = values.iter().flat_map(|x| values.iter().map(move |y| (*x, *y)));
    all.unzip()
}

#[test]
fn safe_mathematics_is_ieee() {
    let (x, y) = &pairs();
    let (x, y) = (&x[..], &y[..]);
    let mut table = Table::new("safe mathematics").safe().input("x", x).input("y", y);
    table
        .exact("x + y", move |i| x[i] + y[i])
        .exact("x - y", move |i| x[i] - y[i])
        .exact("x * y", move |i| x[i] * y[i])
        .exact("x / y", move |i| x[i] / y[i])
        .exact("-x", move |i| -x[i])
        .exact("x - x", move |i| x[i] - x[i])
        .exact("x * 0.0f", move |i| x[i] * 0.0)
        .exact("x + 0.0f", move |i| x[i] + 0.0)
        .exact("0.0f - x", move |i| 0.0 - x[i])
        .exact("x / x", move |i| x[i] / x[i])
        .exact("x == x", move |i| u8::from(!x[i].is_nan()))
        .exact("x != x", move |i| u8::from(x[i].is_nan()))
        .exact("x < y || x >= y", move |i| u8::from(!x[i].is_nan() && !y[i].is_nan()))
        .exact("isnan(x + y)", move |i| u8::from((x[i] + y[i]).is_nan()))
        .exact("isinf(x * y)", move |i| u8::from((x[i] * y[i]).is_infinite()))
        .exact("(x + 1e8f) - 1e8f", move |i| (x[i] + 1e8) - 1e8)
        .exact("x * 3.0f / 3.0f", move |i| x[i] * 3.0 / 3.0)
        .exact("1.0f / (1.0f / x)", move |i| 1.0 / (1.0 / x[i]))
        .exact("x > 0 ? x : -x", move |i| if x[i] > 0.0 { x[i] } else { -x[i] });
    table.run();
}

/// Headers choose the variants of functions by these macros.
#[test]
fn the_mode_chooses_functions() {
    let (x, y) = &([3e38f32, -7.5, 5.5, 1e30, f32::INFINITY, f32::NAN], [0.1f32, 2.0, -2.0, 7.0, 2.0, 1.0]);
    let mut table = Table::new("functions of safe mathematics").safe().input("x", x).input("y", y);
    table
        .exact("__metal_fmod(x, y, __METAL_MAYBE_FAST_MATH__)", move |i| x[i] % y[i])
        .exact("fmod(x, y)", move |i| x[i] % y[i])
        .exact("precise::fmod(x, y)", move |i| x[i] % y[i])
        .exact("__METAL_MAYBE_FAST_MATH__", |_| 0u8)
        .exact("isnan(fmod(x, y))", move |i| u8::from((x[i] % y[i]).is_nan()))
        .exact("isnan(x - x)", move |i| u8::from((x[i] - x[i]).is_nan()))
        .exact("isinf(x * x)", move |i| u8::from((x[i] * x[i]).is_infinite()))
        .exact("isfinite(x)", move |i| u8::from(x[i].is_finite()))
        .exact("\n#ifdef __FAST_MATH__\nr = 1;\n#else\nr = 0;\n#endif\n", |_| 0u8);
    table.run();
    let mut table = Table::new("functions of fast mathematics").input("x", x);
    table
        .exact("__METAL_MAYBE_FAST_MATH__", |_| 1u8)
        .exact("\n#ifdef __FAST_MATH__\nr = 1;\n#else\nr = 0;\n#endif\n", |_| 1u8);
    table.run();
}

/// Products whose rounding shows: a product and a sum in one expression are rounded once, otherwise twice.
const PRODUCTS: &str = "
inline float sum(float p, float c) { return p + c; }
kernel void fused(device const float *x, device float *out, uint i [[thread_position_in_grid]]) {
  float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
  device float *r = out + 6 * i;
  r[0] = a * b + c;
  r[1] = c - a * b;
  r[2] = a * b - c;
  r[3] = c;
  r[3] += a * b;
  float p = a * b;
  r[4] = p + c;
  r[5] = sum(a * b, c);
}
#pragma METAL fp contract(off)
kernel void separate(device const float *x, device float *out, uint i [[thread_position_in_grid]]) {
  float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
  device float *r = out + 6 * i;
  r[0] = a * b + c;
  r[1] = c - a * b;
  r[2] = a * b - c;
  r[3] = c;
  r[3] += a * b;
  float p = a * b;
  r[4] = p + c;
  r[5] = sum(a * b, c);
}
";

#[test]
fn safe_mathematics_fuses_within_an_expression() {
    let threads = 40;
    let x: Vec<f32> = (0..threads)
        .flat_map(|i| {
            let (a, b) = (1.0 + i as f32 * 1e-4 + 1e-5, 1.0 - i as f32 * 3e-5);
            [a, b, if i % 2 == 0 { -(a * b) } else { a * b }]
        })
        .collect();
    let library = TestLibrary::with_math(PRODUCTS, metalworks_compute::MathMode::Safe);
    for (name, is_fused) in [("fused", true), ("separate", false)] {
        let run = library.kernel(name).buffer(&x).zeros::<f32>(threads * 6);
        let out = run.threads(threads, 32).read::<f32>(1);
        let multiply_add = |a: f32, b: f32, c: f32| if is_fused { a.mul_add(b, c) } else { a * b + c };
        expect(name, &out, |i| {
            let [a, b, c] = [x[i / 6 * 3], x[i / 6 * 3 + 1], x[i / 6 * 3 + 2]];
            match i % 6 {
                1 => multiply_add(-a, b, c),
                2 => multiply_add(a, b, -c),
                4 | 5 => a * b + c,
                _ => multiply_add(a, b, c),
            }
        });
        let twice_rounded = (0..threads).filter(|i| out[6 * i] == out[6 * i + 4]).count();
        assert_eq!(twice_rounded == threads, !is_fused, "the numbers tell nothing");
    }
}

/// Kernels start from infinity and mask with it, in fast math, too.
#[test]
fn fast_mathematics_keeps_infinities() {
    let (x, y) = &pairs();
    let (x, y) = (&x[..], &y[..]);
    let mut table = Table::new("fast mathematics").input("x", x).input("y", y);
    table
        .exact("float m = -INFINITY; for (int k = 0; k < 3; k++) m = fmax(m, float(k) + 0.5f); r = m;", |_| 2.5f32)
        .exact("float m = INFINITY; if (!isnan(x)) m = fmin(m, fabs(x)); r = m;", move |i| {
            if x[i].is_nan() { f32::INFINITY } else { x[i].abs() }
        })
        .exact("isinf(x)", move |i| u8::from(x[i].is_infinite()))
        .exact("isnan(x)", move |i| u8::from(x[i].is_nan()))
        .exact("x == -INFINITY", move |i| u8::from(x[i] == f32::NEG_INFINITY))
        .ulps::<f32>("isnan(x) || isnan(y) ? 0.0f : max(x, y)", 0.0, move |i| {
            f64::from(if x[i].is_nan() || y[i].is_nan() { 0.0 } else { x[i].max(y[i]) })
        })
        .exact("exp(-INFINITY)", |_| 0f32)
        .exact("exp(min(x, 0.0f)) >= 0.0f || isnan(x)", |_| 1u8)
        .exact("as_type<uint>(x)", move |i| x[i].to_bits())
        .exact("select(x, 1.0f, isnan(x))", move |i| if x[i].is_nan() { 1.0 } else { x[i] });
    table.run();
}

const SOFTMAX: &str = "
// Rows with -infinity where masked, and one row that is masked as a whole.
kernel void softmax(device const float *in, device float *out, constant uint &n, uint row [[thread_position_in_grid]]) {
  float largest = -INFINITY, sum = 0;
  for (uint k = 0; k < n; k++) largest = max(largest, in[row * n + k]);
  if (largest == -INFINITY) largest = 0;
  for (uint k = 0; k < n; k++) sum += exp(in[row * n + k] - largest);
  for (uint k = 0; k < n; k++) out[row * n + k] = sum == 0 ? 0 : exp(in[row * n + k] - largest) / sum;
}
";

#[test]
fn masked_softmax() {
    let (rows, n) = (40, 7);
    let inputs: Vec<f32> = (0..rows * n)
        .map(|i| if i / n == 5 || i % 3 == i / n % 3 { f32::NEG_INFINITY } else { (i * 37 % 23) as f32 / 4.0 })
        .collect();
    for source in [TestLibrary::new(SOFTMAX), TestLibrary::with_math(SOFTMAX, metalworks_compute::MathMode::Safe)] {
        let run = source.kernel("softmax").buffer(&inputs).zeros::<f32>(rows * n).bytes(&(n as u32));
        let out = run.threads(rows, 32).read::<f32>(1);
        let close: Vec<bool> = out
            .iter()
            .enumerate()
            .map(|(i, got)| {
                let row = inputs[i / n * n..i / n * n + n].iter().map(|x| f64::from(*x).exp());
                let sum: f64 = row.sum();
                let exact = if sum == 0.0 { 0.0 } else { f64::from(inputs[i]).exp() / sum };
                (f64::from(*got) - exact).abs() < 1e-6
            })
            .collect();
        expect("within 1e-6", &close, |_| true);
    }
}

/// `half` keeps its denormal numbers on every device; those of `float` may be flushed to zero, but to nothing else.
#[test]
fn small_numbers() {
    let h: &Vec<f16> = &(0..70).map(|k| f16::from_bits(k * 19)).collect();
    let x: &Vec<f32> = &(0..70).map(|k| f32::from_bits(k * 250_000)).collect();
    let mut table = Table::new("small numbers").safe().input("h", h).input("x", x);
    table
        .exact("h + h", move |i| f16::from_f32(h[i].to_f32() * 2.0))
        .exact("h * 0.5h", move |i| f16::from_f32(h[i].to_f32() * 0.5))
        .exact("float(h)", move |i| h[i].to_f32())
        .exact("h - 1e-4h", move |i| f16::from_f32(h[i].to_f32() - f16::from_f32(1e-4).to_f32()))
        .exact("half(x * 1e30f)", move |i| f16::from_f32(if x[i] < f32::MIN_POSITIVE { 0.0 } else { x[i] * 1e30 }))
        .ulps::<f32>("x * 0.5f", 0.5, move |i| f64::from(x[i]) * 0.5)
        .ulps::<f32>("x + x", 0.5, move |i| if x[i] < f32::MIN_POSITIVE { 0.0 } else { f64::from(x[i]) * 2.0 })
        // Copies and bit casts are exact.
        .exact("as_type<uint>(x)", move |i| x[i].to_bits())
        .exact("r = x;", move |i| x[i])
        .exact("i < 35 ? x : 0.0f", move |i| if i < 35 { x[i] } else { 0.0 });
    table.run();
}
