//! Comparison of two buffers, bit for bit.

use crate::array::{DType, Scalar};

/// Compares elements of two buffers and the bytes after them. Floating-point numbers may differ by `bound` units in the
/// last place; a NaN equals any NaN. The error has the first few differences.
pub(crate) fn compare(dtype: DType, bound: u64, apple: &[u8], ours: &[u8]) -> Result<(), String> {
    let size = dtype.size();
    let (mut wrong, mut furthest, mut text) = (0, 0, String::new());
    for (index, (apple, ours)) in apple.chunks(size).zip(ours.chunks(size)).enumerate() {
        let distance = if apple == ours { 0 } else { distance(dtype, apple, ours) };
        if distance > bound {
            wrong += 1;
            furthest = furthest.max(distance);
            if wrong <= 3 {
                text += &format!("; [{index}] is {:?} ({ours:02x?}), not ", read(dtype, ours));
                text += &format!("{:?} ({apple:02x?})", read(dtype, apple));
            }
        }
    }
    let furthest = if furthest == u64::MAX { "infinitely".into() } else { format!("{furthest} units") };
    let count = apple.len() / size;
    if wrong > 0 { Err(format!("{wrong} of {count} differ, by up to {furthest}{text}")) } else { Ok(()) }
}

fn read(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
    (bytes.len() == dtype.size()).then(|| dtype.read(bytes))
}

/// Units in the last place between two numbers; `u64::MAX` between things that have no distance.
fn distance(dtype: DType, apple: &[u8], ours: &[u8]) -> u64 {
    match (read(dtype, apple), read(dtype, ours)) {
        (Some(Scalar::Float(apple_value)), Some(Scalar::Float(ours_value))) => {
            float_distance(apple, ours, apple_value, ours_value)
        }
        (Some(Scalar::Complex(apple_real, apple_imaginary)), Some(Scalar::Complex(real, imaginary))) => {
            float_distance(&apple[..4], &ours[..4], apple_real, real).max(float_distance(
                &apple[4..],
                &ours[4..],
                apple_imaginary,
                imaginary,
            ))
        }
        _ => u64::MAX,
    }
}

fn float_distance(apple: &[u8], ours: &[u8], apple_value: f64, ours_value: f64) -> u64 {
    if apple == ours || (apple_value.is_nan() && ours_value.is_nan()) {
        return 0;
    }
    if !apple_value.is_finite() || !ours_value.is_finite() {
        return u64::MAX;
    }
    // Bits of a sign and a magnitude, as a number that grows with the value.
    let ordered = |bytes: &[u8]| {
        let magnitude = bytes.iter().rev().fold(0i64, |bits, byte| bits << 8 | i64::from(*byte));
        let sign = 1i64 << (8 * bytes.len() - 1);
        if magnitude & sign == 0 { magnitude } else { -(magnitude & !sign) }
    };
    // +0 and −0 differ, and have the same place.
    ordered(apple).abs_diff(ordered(ours)).max(1)
}

#[test]
fn distances() {
    let check = |apple: f32, ours: f32| distance(DType::Float32, &apple.to_le_bytes(), &ours.to_le_bytes());
    assert_eq!(check(1.0, 1.0 + f32::EPSILON), 1);
    assert_eq!(check(f32::NAN, -f32::NAN), 0);
    assert_eq!(check(0.0, -0.0), 1);
    assert_eq!(check(-f32::from_bits(1), f32::from_bits(1)), 2);
    assert_eq!(check(1.0, f32::INFINITY), u64::MAX);
    assert_eq!(distance(DType::Int32, &[1, 0, 0, 0], &[2, 0, 0, 0]), u64::MAX);
    let [one, two] = [1.0f32, 1.5].map(f32::to_le_bytes);
    assert!(compare(DType::Float32, 0, &one, &two).is_err());
    assert!(compare(DType::Uint8, 0, &[1, 2], &[1, 2]).is_ok());
}
