//! Functions on `half`, on every one of them; and `bfloat`.

use super::accuracy::{UNARY, error_in};
use super::run::{Array, Truth, apply, apply_ir};
use half::{bf16, f16};

fn halves() -> Vec<f16> {
    (0..=u16::MAX).map(f16::from_bits).collect()
}

#[test]
fn functions_on_half_are_correctly_rounded_or_nearly() {
    let inputs = halves();
    let mut failures = String::new();
    for function in UNARY.iter().filter(|function| !function.name.starts_with("fast_")) {
        let name = format!("air.{}.f16", function.name);
        let results: Vec<f16> = apply(&name, "half", &[Array::new("half", &inputs)]);
        for (&x, &result) in inputs.iter().zip(&results) {
            let truth = (function.truth)(x.to_f64());
            let expected = f16::from_f64(truth);
            let is_same = result == expected || (result.is_nan() && expected.is_nan());
            // 2^-14 is the smallest normal number, 11 bits are kept.
            let error = error_in(result.to_f64(), truth, -14, 10);
            if !is_same && (error > 0.502 || !expected.is_finite()) {
                failures += &format!("{name}({x}) = {result}, not {truth}: {error}\n");
                break;
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn exact_functions_on_half() {
    let inputs = halves();
    let exact: &[(&str, Truth)] = &[
        ("ceil", f32::ceil),
        ("floor", f32::floor),
        ("trunc", f32::trunc),
        ("rint", f32::round_ties_even),
        ("round", f32::round),
        ("sqrt", f32::sqrt),
        ("fabs", f32::abs),
        ("saturate", |x| if x > 0.0 { x.min(1.0) } else { 0.0 }),
        ("sign", |x| {
            if x == 0.0 {
                x
            } else if x.is_nan() {
                0.0
            } else {
                x.signum()
            }
        }),
    ];
    for (name, truth) in exact {
        let results: Vec<f16> = apply(&format!("air.{name}.f16"), "half", &[Array::new("half", &inputs)]);
        for (&x, &result) in inputs.iter().zip(&results) {
            let expected = f16::from_f32(truth(x.to_f32()));
            let is_same = result.to_bits() == expected.to_bits() || (result.is_nan() && expected.is_nan());
            assert!(is_same, "{name}({x:?}) = {result:?}, not {expected:?}");
        }
    }
}

#[test]
fn smaller_and_larger_halves() {
    let special = [0.0, 1.0, -1.0, 3.5, 65504.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN].map(f16::from_f32);
    let pairs = || special.iter().flat_map(|&x| special.iter().map(move |&y| (x, y)));
    let (left, right): (Vec<f16>, Vec<f16>) = pairs().unzip();
    for (name, truth) in [("fmin", f32::min as fn(f32, f32) -> f32), ("fmax", f32::max)] {
        let arguments = [Array::new("half", &left), Array::new("half", &right)];
        let results: Vec<f16> = apply(&format!("air.{name}.f16"), "half", &arguments);
        for ((x, y), result) in pairs().zip(results) {
            let expected = truth(x.to_f32(), y.to_f32());
            assert!(
                result.to_f32() == expected || (result.is_nan() && expected.is_nan()),
                "{name}({x}, {y}) = {result}, not {expected}"
            );
        }
    }
}

/// Arithmetic on `bfloat`: every kind of instruction, in a loop that carries one.
const BFLOAT: &str = "
declare bfloat @llvm.fmuladd.bf16(bfloat, bfloat, bfloat)
declare bfloat @air.fmax.bf16(bfloat, bfloat)
define void @run(ptr %a, ptr %b, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %carried = phi bfloat [ 0xR3F80, %entry ], [ %y, %loop ]
  %pa = getelementptr bfloat, ptr %a, i64 %i
  %x = load bfloat, ptr %pa, align 2
  %pb = getelementptr bfloat, ptr %b, i64 %i
  %y = load bfloat, ptr %pb, align 2
  %sum = fadd bfloat %x, %y
  %product = fmul bfloat %sum, %carried
  %quotient = fdiv bfloat %product, %y
  %difference = fsub bfloat %quotient, %x
  %negative = fneg bfloat %difference
  %fused = call bfloat @llvm.fmuladd.bf16(bfloat %negative, bfloat %x, bfloat %y)
  %larger = call bfloat @air.fmax.bf16(bfloat %fused, bfloat %x)
  %is_less = fcmp olt bfloat %larger, %y
  %chosen = select i1 %is_less, bfloat %larger, bfloat %fused
  %pair = insertelement <2 x bfloat> poison, bfloat %chosen, i32 0
  %filled = insertelement <2 x bfloat> %pair, bfloat %sum, i32 1
  %turned = shufflevector <2 x bfloat> %filled, <2 x bfloat> poison, <2 x i32> <i32 1, i32 0>
  %bits = bitcast <2 x bfloat> %turned to i32
  %po = getelementptr i32, ptr %out, i64 %i
  store i32 %bits, ptr %po, align 4
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
";

#[test]
fn arithmetic_on_bfloat() {
    let any = |index: u32, factor: u32| bf16::from_bits((index.wrapping_mul(factor) >> 7) as u16);
    let left: Vec<bf16> = (0..200_000).map(|index| any(index, 2_654_435_761)).collect();
    let right: Vec<bf16> = (0..200_000).map(|index| any(index, 2_246_822_519)).collect();
    let arguments = [Array::new("bfloat", &left), Array::new("bfloat", &right)];
    let results: Vec<[bf16; 2]> = apply_ir(BFLOAT, &arguments);
    let round = |value: f32| bf16::from_f32(value).to_f32();
    let mut carried = 1.0f32;
    for ((&x, &y), &[sum, chosen]) in left.iter().zip(&right).zip(&results) {
        let (x, y) = (x.to_f32(), y.to_f32());
        let expected_sum = round(x + y);
        let product = round(expected_sum * carried);
        let difference = round(round(product / y) - x);
        let (exact, fused) = (round(-difference * x + y), round((-difference).mul_add(x, y)));
        carried = y;
        let same = |a: bf16, b: f32| a.to_f32() == b || (a.is_nan() && b.is_nan());
        assert!(same(sum, expected_sum), "{x} + {y} = {sum}, not {expected_sum}");
        // Multiplication and addition may be one rounding or two.
        let choose = |fused: f32| if fused.max(x) < y { fused.max(x) } else { fused };
        assert!(
            same(chosen, choose(exact)) || same(chosen, choose(fused)),
            "{x}, {y}: {chosen}, not {}",
            choose(fused)
        );
    }
}
