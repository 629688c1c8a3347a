//! Conversions between all types, at their limits. Rust's `as` saturates and makes 0 of NaN, as Metal's hardware does.

use super::run::{Array, apply};
use half::{bf16, f16};

/// Floating-point numbers around the limits of all integers, and others.
fn floats() -> Vec<f32> {
    let mut values =
        vec![0.0, 0.4999, 0.5, 0.75, 1.0, 1.5, 2.5, 100.7, 1e10, 1e30, f32::MAX, f32::MIN_POSITIVE, 1e-42];
    for bits in [7, 8, 15, 16, 24, 31, 32, 63, 64, 127] {
        let power = 2f32.powi(bits);
        values.extend([power.next_down(), power, power.next_up(), power - 1.0, power - 0.5, power + 1.0]);
    }
    values.extend([f32::INFINITY, f32::NAN]);
    let negative: Vec<f32> = values.iter().map(|value| -value).collect();
    let patterns = (0..u32::MAX).step_by(100_003).map(f32::from_bits);
    values.into_iter().chain(negative).chain(patterns).collect()
}

/// Integers of 64 bits, of which others take their lowest bits.
fn integers() -> Vec<i64> {
    let powers = (0..64).map(|bits| 1i64 << bits);
    let powers =
        powers.flat_map(|power| [power.wrapping_sub(1), power, power.wrapping_add(1), power.wrapping_neg()]);
    let odd = (0..20_000i64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64) >> (index % 57));
    powers.chain(odd).collect()
}

/// `air.convert` from `From` to `To`, scalar and in vectors of four.
fn check<From: Copy + std::fmt::Debug, To: Copy + Default + PartialEq + std::fmt::Debug>(
    name: (&str, &str),
    types: (&str, &str),
    inputs: &[From],
    truth: impl Fn(From) -> To,
    is_same: impl Fn(To, To) -> bool,
) {
    let ((to, from), (to_type, from_type)) = (name, types);
    let scalar = format!("air.convert.{to}.{from}");
    let results: Vec<To> = apply(&scalar, to_type, &[Array::new(from_type, inputs)]);
    let compare = |results: &[To], how: &str| {
        for (&input, &result) in inputs.iter().zip(results) {
            assert!(
                is_same(result, truth(input)),
                "{scalar}{how}: {input:?} is {result:?}, not {:?}",
                truth(input)
            );
        }
    };
    compare(&results, "");
    if to_type == "i1" || from_type == "i1" {
        return; // Vectors of bits are no vectors of bytes.
    }
    let four: Vec<[From; 4]> = inputs.as_chunks::<4>().0.to_vec();
    let wide = |name: &str| name.replacen('.', ".v4", 1);
    let (to_vector, from_vector) = (format!("<4 x {to_type}>"), format!("<4 x {from_type}>"));
    let vector = format!("air.convert.{}.{}", wide(to), wide(from));
    let results: Vec<[To; 4]> = apply(&vector, &to_vector, &[Array::new(&from_vector, &four)]);
    compare(results.as_flattened(), " in vectors");
}

/// Both directions between an integer type and the floating-point types.
macro_rules! with_integer {
    ($test:ident, $int:ty, $name:literal, $llvm:literal) => {
        #[test]
        fn $test() {
            let floats = floats();
            let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
            let bfloats: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
            let integers: Vec<$int> = integers().into_iter().map(|value| value as $int).collect();
            let same = |a: $int, b: $int| a == b;
            check(($name, "f.f32"), ($llvm, "float"), &floats, |x| x as $int, same);
            check(($name, "f.f16"), ($llvm, "half"), &halves, |x| x.to_f32() as $int, same);
            check(($name, "f.bf16"), ($llvm, "bfloat"), &bfloats, |x| x.to_f32() as $int, same);
            check(("f.f32", $name), ("float", $llvm), &integers, |x| x as f32, |a, b| a == b);
            check(("f.f16", $name), ("half", $llvm), &integers, |x| f16::from_f32(x as f32), |a, b| a == b);
            check(("f.bf16", $name), ("bfloat", $llvm), &integers, |x| bf16::from_f32(x as f32), |a, b| a == b);
        }
    };
}

with_integer!(chars, i8, "s.i8", "i8");
with_integer!(uchars, u8, "u.i8", "i8");
with_integer!(shorts, i16, "s.i16", "i16");
with_integer!(ushorts, u16, "u.i16", "i16");
with_integer!(ints, i32, "s.i32", "i32");
with_integer!(uints, u32, "u.i32", "i32");
with_integer!(longs, i64, "s.i64", "i64");
with_integer!(ulongs, u64, "u.i64", "i64");

#[test]
fn bools() {
    let is_set = |a: u8, b: u8| a == b;
    check(("u.i1", "f.f32"), ("i1", "float"), &floats(), |x| u8::from(x != 0.0), is_set);
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    check(("u.i1", "f.f16"), ("i1", "half"), &halves, |x| u8::from(x.to_f32() != 0.0), is_set);
    check(("f.f32", "u.i1"), ("float", "i1"), &[0u8, 1], f32::from, |a, b| a == b);
    check(("f.f16", "u.i1"), ("half", "i1"), &[0u8, 1], f16::from, |a, b| a == b);
    check(("f.bf16", "u.i1"), ("bfloat", "i1"), &[0u8, 1], bf16::from, |a, b| a == b);
}

#[test]
fn between_floating_point_types() {
    let floats = floats();
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let bfloats: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    let same_half = |a: f16, b: f16| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let same_bfloat = |a: bf16, b: bf16| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    check(("f.f16", "f.f32"), ("half", "float"), &floats, f16::from_f32, same_half);
    check(("f.bf16", "f.f32"), ("bfloat", "float"), &floats, bf16::from_f32, same_bfloat);
    check(("f.f32", "f.f16"), ("float", "half"), &halves, f16::to_f32, same);
    check(("f.f32", "f.bf16"), ("float", "bfloat"), &bfloats, bf16::to_f32, same);
    check(("f.bf16", "f.f16"), ("bfloat", "half"), &halves, |x| bf16::from_f32(x.to_f32()), same_bfloat);
    check(("f.f16", "f.bf16"), ("half", "bfloat"), &bfloats, |x| f16::from_f32(x.to_f32()), same_half);
}

#[test]
fn between_integers() {
    let integers = integers();
    check(
        ("s.i64", "s.i16"),
        ("i64", "i16"),
        &integers.iter().map(|&x| x as i16).collect::<Vec<_>>(),
        i64::from,
        |a, b| a == b,
    );
    check(
        ("u.i64", "u.i16"),
        ("i64", "i16"),
        &integers.iter().map(|&x| x as u16).collect::<Vec<_>>(),
        u64::from,
        |a, b| a == b,
    );
    check(("u.i8", "s.i64"), ("i8", "i64"), &integers, |x| x as u8, |a, b| a == b);
}
